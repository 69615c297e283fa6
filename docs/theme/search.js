// The search in Chinese. Its box and its list are mdBook's; but mdBook's index takes for a word
// what is between blanks, and Chinese has none. Here the sections' texts are gone through instead.
'use strict';

(() => {
    const box = document.getElementById('mdbook-searchbar');
    if (!box || !document.documentElement.lang.startsWith('zh')) {
        return;
    }
    const SHOWN = 80; // characters of a section that the list shows
    const BEFORE = 24; // of them at most before what was found

    // A term as a pattern: what begins with a letter or a digit begins a word.
    const pattern = term => new RegExp((/^[a-z\d]/i.test(term) ? '(?<![a-z\\d])' : '') +
        term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi');
    const count = (text, term) => (text.match(pattern(term)) || []).length;

    // How much a section has to say of a term; its headings count most.
    const weight = ({ title, breadcrumbs, body }, term) => {
        const times = count(body, term);
        return 2 * (count(title, term) > 0) + (count(breadcrumbs, term) > 0) +
            times / (times + 1 + body.length / 1000);
    };

    // Ways to part what is asked for: each is for what the book nowhere has as it stands.
    const segmenter = window.Intl?.Segmenter && new Intl.Segmenter('zh', { granularity: 'word' });
    const pairs = text => [...text].slice(1).map((_, i) => text.slice(i, i + 2));
    const words = text => [...segmenter.segment(text)].map(one => one.segment).filter(one => one.length > 1);
    const PARTS = [
        text => text.split(/[\s，。、；：？！“”（）《》]+/).filter(Boolean),
        text => text.match(/\p{Script=Han}+|\P{Script=Han}+/gu),
        segmenter ? words : pairs,
    ];
    const terms = (asked, sections, [part, ...finer] = PARTS) => !part ? [] :
        part(asked).flatMap(piece => sections.some(section => weight(section, piece) > 0)
            ? [piece] : terms(piece, sections, finer));

    // mdBook has put a blank before each element; and a table's rules are no text.
    const BLANK = /(?<=\p{Script=Han}) (?=\p{Script=Han})|(?<=[，。、；：？！“”（）《》]) | (?=[，。、；：？！“”（）《》])/gu;
    const tidy = text => text.replace(/[|-]{5,}/g, '|').replace(/\s+/g, ' ').replace(BLANK, '');

    // What the list shows: where most of the terms are, from the sentence's beginning if it is near.
    const excerpt = (text, asked) => {
        const near = place => asked.filter(term => count(text.slice(place, place + SHOWN - BEFORE), term)).length;
        const places = asked.flatMap(term => [...text.matchAll(pattern(term))].map(found => found.index));
        const place = places.reduce((best, one) => near(one) > near(best) ? one : best, places[0] ?? 0);
        const start = text.slice(0, place).search(new RegExp(`(?<![a-z\\d])[^。]{0,${BEFORE}}$|$`, 'i'));
        const shown = new RegExp(`^.{0,${SHOWN}}(?![a-z\\d])|^.{${SHOWN}}`, 'is').exec(text.slice(start))[0];
        const cut = start > 0 && text[start - 1] !== '。';
        return (cut ? '……' : '') + shown + (start + shown.length < text.length ? '……' : '');
    };

    // Marks the terms in mdBook's list, and on the pages that it leads to.
    const mark = asked => {
        for (const result of document.querySelectorAll('#mdbook-searchresults li')) {
            const teaser = result.querySelector('.teaser');
            teaser.textContent = teaser.textContent.trim(); // without mdBook's own marks
            new Mark(teaser).mark(asked, { element: 'em', separateWordSearch: false });
            result.querySelector('a').search = `?highlight=${encodeURIComponent(asked.join(' '))}`;
        }
    };

    let sections = null;
    elasticlunr.Index.prototype.search = function(query) {
        sections ??= Object.values(this.documentStore.docs)
            .map(section => ({ ...section, body: tidy(section.body) }));
        const asked = [...new Set(terms(query, sections))];
        const weights = sections.map(section => asked.map(term => weight(section, term)));
        // The fewer sections have a term, the more it says.
        const rare = asked.map((_, i) =>
            Math.log(1 + sections.length / weights.filter(row => row[i] > 0).length));
        const results = sections.map((section, at) => ({
            section,
            has: weights[at].filter(one => one > 0).length,
            score: weights[at].reduce((sum, one, i) => sum + one * rare[i], 0),
        }));
        const most = Math.max(1, ...results.map(({ has }) => has));
        queueMicrotask(() => mark(asked));
        return results
            .filter(({ has }) => has === most)
            .sort((one, other) => other.score - one.score)
            .map(({ section, score }) => ({
                ref: section.id, score, doc: { ...section, body: excerpt(section.body, asked) },
            }));
    };

    // mdBook looks at the box when a key is released. What the mouse or an input method puts there
    // comes without a key, and while an input method composes, Enter and the arrows are its own.
    const look = () => box.dispatchEvent(new Event('keyup'));
    box.addEventListener('input', look);
    box.addEventListener('keydown', event => {
        if (event.isComposing || event.keyCode === 229) {
            event.stopPropagation();
        }
    });

    // A page opened at a search may have searched its index before this script was there.
    if (window.search.index && box.value.trim()) {
        const asked = box.value;
        for (const text of [`${asked}。`, asked]) { // mdBook does not search for the same twice
            box.value = text;
            look();
        }
    }
})();
