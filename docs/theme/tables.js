// Tables that do not fit the column, as on a phone: each row becomes a block, with the heading of its column before
// each cell. Without this they scroll.
'use strict';

(() => {
    const tables = [...document.querySelectorAll('main table')];
    for (const table of tables) {
        const heads = [...table.querySelectorAll('thead th')].map(head => head.textContent.trim());
        for (const row of table.querySelectorAll('tbody tr')) {
            [...row.cells].forEach((cell, place) => {
                cell.dataset.head = heads[place] || '';
                // One piece beside the heading.
                const inside = document.createElement('span');
                inside.append(...cell.childNodes);
                cell.append(inside);
            });
        }
    }

    // Wider than the column, or a cell of several lines that is narrower than a few words.
    const fits = table => {
        const wrapper = table.parentElement;
        if (table.getBoundingClientRect().width > wrapper.clientWidth + 1) {
            return false;
        }
        return [...table.querySelectorAll('tbody td')].every(cell => {
            const style = getComputedStyle(cell);
            const size = parseFloat(style.fontSize);
            const inside = cell.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
            const lines = (cell.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom)) / (1.5 * size);
            return cell.textContent.trim().length < 6 || lines < 2.5 || inside >= 5 * size;
        });
    };
    const arrange = () => {
        for (const table of tables) {
            table.classList.remove('stacked');
            table.classList.toggle('stacked', !fits(table));
        }
    };

    arrange();
    document.fonts?.ready.then(arrange);
    let width = innerWidth;
    addEventListener('resize', () => {
        if (innerWidth !== width) {
            width = innerWidth;
            arrange();
        }
    });
    // The column is wider without the list of pages.
    document.getElementById('mdbook-sidebar-toggle-anchor')?.addEventListener('change', () => setTimeout(arrange, 600));
})();
