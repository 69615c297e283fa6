// Runs in a page of the Chinese book; returns what of mdBook's own it says in English, a sentence each.
() => {
    const NAMES = /Warpbook|“[^”]*”/g; // and what was searched for
    const THEMES = ['Rust', 'Ayu'];
    const ATTRIBUTES = ['title', 'placeholder', 'alt', 'aria-label', 'aria-description',
        'aria-placeholder', 'aria-roledescription', 'aria-valuetext'];
    const BOOK = 'main, #mdbook-sidebar li, #mdbook-searchresults a, .teaser';
    const OTHER = 'script, style, template, noscript, code, kbd, [lang|="en"]';

    const said = [...document.querySelectorAll('body *')]
        .filter(one => !one.matches(OTHER) && (!one.parentElement.closest(BOOK) || one.closest('.buttons')))
        .flatMap(one => [
            ...one.matches(BOOK) ? [] : [...one.childNodes].map(text => text.nodeType === 3 ? text.data : ''),
            ...ATTRIBUTES.map(name => one.getAttribute(name) || ''),
        ]);
    const english = said.map(text => text.trim())
        .filter(text => /[a-z]/i.test(text.replace(NAMES, '')) && !THEMES.includes(text));
    return [...new Set(english)].map(text => `theme/menu.js has no Chinese for "${text}"`);
}
