// mdBook's own words in Chinese: its menu, its buttons, its help and its search, also those that
// it says later. What the book says itself is left as it is.
'use strict';

(() => {
    if (!document.documentElement.lang.startsWith('zh')) {
        return;
    }
    const WORDS = new Map([
        ['Table of contents', '目录'],
        ['Toggle Table of Contents', '显示或隐藏目录'],
        ['Change theme', '更换主题'],
        ['Themes', '主题'],
        ['Auto', '自动'],
        ['Light', '浅色'],
        ['Coal', '炭黑'],
        ['Navy', '藏青'],
        ['Search (`/`)', '搜索（/）'],
        ['Toggle Searchbar', '显示或隐藏搜索框'],
        ['Search this book ...', '搜索本书……'],
        ['Search Result Teaser', '结果所在的文字'],
        ['Page navigation', '翻页'],
        ['Previous chapter', '上一章'],
        ['Next chapter', '下一章'],
        ['Keyboard shortcuts', '快捷键'],
        ['Press', '按'],
        ['or', '或'],
        ['to navigate between chapters', '翻到上一章或下一章'],
        ['to search in the book', '搜索本书'],
        ['to show this help', '显示这份帮助'],
        ['to hide this help', '关闭这份帮助'],
        ['Copy to clipboard', '复制'],
        ['Copied!', '已复制'],
        ['Clipboard error!', '复制失败'],
    ]);
    const FOUND = [
        [/^(\d+) search results? for '(.*)':$/s, '“$2”：$1 条结果'],
        [/^No search results for '(.*)'\.$/s, '没有找到“$1”。'],
    ];
    const ATTRIBUTES = ['title', 'aria-label', 'placeholder'];
    const BOOK = 'main, #mdbook-sidebar li, #mdbook-searchresults a, .teaser';

    const chinese = text => text.replace(/\S.*\S|\S/s, words => WORDS.get(words) ??
        FOUND.reduce((said, [english, other]) => said.replace(english, other), words));

    // One text or one element, if it is mdBook's.
    const translate = node => {
        const around = node.parentElement;
        if (!around || around.closest(BOOK) && !around.closest('.buttons')) {
            return;
        }
        if (node.nodeType === Node.TEXT_NODE) {
            const said = chinese(node.data);
            if (said !== node.data) {
                node.data = said;
            }
            return;
        }
        for (const name of ATTRIBUTES.filter(one => node.hasAttribute(one))) {
            const [english, said] = [node.getAttribute(name), chinese(node.getAttribute(name))];
            if (said !== english) {
                node.setAttribute(name, said);
            }
        }
    };

    const all = root => {
        const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
        for (let node = root; node; node = walk.nextNode()) {
            translate(node);
        }
    };
    all(document.body);
    new MutationObserver(changes => changes.forEach(({ type, target, addedNodes }) =>
        type === 'childList' ? addedNodes.forEach(all) : translate(target),
    )).observe(document.body, {
        subtree: true, childList: true, characterData: true, attributeFilter: ATTRIBUTES,
    });
})();
