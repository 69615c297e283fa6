// The switch in the menu bar: to the same place of the same page in the other language.
//
// The two trees have the same pages with the same headings, but a heading's name in an address
// is its own language's. So the way over names a heading by its number: `#heading-3`.
'use strict';

(() => {
    const here = document.documentElement.lang.startsWith('zh') ? 'zh' : 'en';
    const there = here === 'zh' ? 'en' : 'zh';
    const root = new URL(path_to_root || './', location.href);
    const page = location.href.split(/[?#]/)[0].slice(root.href.length);
    const headings = [...document.querySelectorAll('main :is(h1, h2, h3, h4, h5, h6)[id]')];

    // The number of the heading that is being read: the one in the address if it is in sight, or
    // else the last above the window's upper third.
    const reading = () => {
        const top = one => one.getBoundingClientRect().top;
        const named = headings.findIndex(one => one.id === decodeURIComponent(location.hash.slice(1)));
        if (named >= 0 && top(headings[named]) > -1 && top(headings[named]) < innerHeight) {
            return named + 1;
        }
        return headings.filter(one => top(one) < innerHeight / 3).length;
    };

    const link = document.createElement('a');
    link.className = 'language';
    link.lang = there === 'zh' ? 'zh-CN' : 'en';
    link.hreflang = link.lang;
    link.textContent = there === 'zh' ? '中文' : 'English';
    link.title = there === 'zh' ? '本页的中文版' : 'This page in English';
    const aim = () => {
        const number = reading();
        // From the first, or above it: to the top.
        const place = number > 1 ? `#heading-${number}` : '';
        link.href = new URL(`../${there}/${page}${place}`, root).href;
    };
    aim();
    for (const event of ['pointerenter', 'focus', 'pointerdown', 'click']) {
        link.addEventListener(event, aim);
    }
    link.addEventListener('click', () => {
        try {
            localStorage.setItem('warpbook-language', there);
        } catch (e) { /* only the start page asks for it */ }
    });
    document.querySelector('.right-buttons').prepend(link);

    // Arriving from the other language.
    const number = /^#heading-(\d+)$/.exec(location.hash);
    const heading = number && headings[number[1] - 1];
    if (heading) {
        location.replace(`#${heading.id}`);
    }
})();
