// Runs in a page of the Chinese book. Returns a sentence per label of mdBook's that is not translated.
() => {
    const NAMES = /Warpbook|“[^”]*”/g; // and the search query
    const THEMES = ['Rust', 'Ayu'];
    const ATTRIBUTES = ['title', 'placeholder', 'alt', 'aria-label', 'aria-description',
        'aria-placeholder', 'aria-roledescription', 'aria-valuetext'];
    const BOOK = 'main, #mdbook-sidebar li, #mdbook-searchresults a, .teaser';
    const OTHER = 'script, style, template, noscript, code, kbd, [lang|="en"]';

    const labels = [...document.querySelectorAll('body *')]
        .filter(element => !element.matches(OTHER) && (!element.parentElement.closest(BOOK) || element.closest('.buttons')))
        .flatMap(element => [
            ...element.matches(BOOK) ? [] : [...element.childNodes].map(text => text.nodeType === 3 ? text.data : ''),
            ...ATTRIBUTES.map(name => element.getAttribute(name) || ''),
        ]);
    const english = labels.map(text => text.trim())
        .filter(text => /[a-z]/i.test(text.replace(NAMES, '')) && !THEMES.includes(text));
    return [...new Set(english)].map(text => `theme/menu.js has no Chinese for "${text}"`);
}
