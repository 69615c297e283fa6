// Runs in a page of the book. Returns a sentence per problem of its current layout.
() => {
    const wrong = [];
    const named = one => `<${one.tagName.toLowerCase()}${one.id ? ` id="${one.id}"` : ''}> ` +
        `"${(one.textContent || '').trim().replace(/\s+/g, ' ').slice(0, 40)}"`;

    // Nothing may be wider than the window, except code, which scrolls separately.
    const content = document.getElementById('mdbook-content');
    const root = document.documentElement;
    if (content.scrollWidth > content.clientWidth || root.scrollWidth > root.clientWidth) {
        const scrolls = one => one.closest('pre');
        const wide = [...content.querySelectorAll('main *')].filter(one =>
            one.getBoundingClientRect().right > content.getBoundingClientRect().right + 1 &&
            (!scrolls(one) || scrolls(one) === one));
        wrong.push(`wider than the window, by ${wide.slice(0, 3).map(named).join(', ') || 'something'}`);
    }
    for (const one of content.querySelectorAll('main :not(pre, pre *, svg *)')) {
        if (one.scrollWidth > one.clientWidth + 1 && !['visible', 'clip'].includes(getComputedStyle(one).overflowX)) {
            wrong.push(`${named(one)} scrolls sideways, but only code may`);
        }
    }
    // A table must fit the column, and its cells must not shrink to a few letters per line.
    for (const table of document.querySelectorAll('main table')) {
        const right = table.parentElement.getBoundingClientRect().right;
        for (const cell of table.querySelectorAll('td, th')) {
            const style = getComputedStyle(cell);
            const size = parseFloat(style.fontSize);
            const inside = cell.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
            if (cell.getBoundingClientRect().right > right + 1) {
                wrong.push(`${named(cell)} is cut off at the table's edge`);
            }
            if (cell.tagName === 'TD' && inside < 4 * size && cell.clientHeight > 4.5 * size && cell.innerText.trim().length > 6) {
                wrong.push(`${named(cell)} is ${(inside / size).toFixed(1)} letters wide`);
            }
        }
    }
    for (const one of document.querySelectorAll('main em')) {
        if (getComputedStyle(one).textEmphasisStyle !== 'none') {
            wrong.push(`${named(one)} has emphasis dots`);
        }
    }
    const bar = document.getElementById('mdbook-menu-bar').getBoundingClientRect();
    for (const button of document.querySelectorAll('#mdbook-menu-bar :is(.icon-button, a)')) {
        const box = button.getBoundingClientRect();
        if (box.right > innerWidth || box.bottom > bar.bottom + 1 || box.width < 1) {
            wrong.push(`${named(button)} is not in the menu bar`);
        }
    }
    for (const image of document.querySelectorAll('main img')) {
        if (!image.alt.trim()) {
            wrong.push(`${image.src} has no alternative text`);
        }
        if (image.complete && !image.naturalWidth) {
            wrong.push(`${image.src} is not a valid picture`);
        }
    }

    // Parses colours to red, green, blue and opacity, from 0 to 1, with a canvas, which accepts every notation.
    const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const colour = text => {
        pen.clearRect(0, 0, 1, 1);
        pen.fillStyle = text;
        pen.fillRect(0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data].map(one => one / 255);
    };
    const over = ([r, g, b, a], below) => [r, g, b].map((one, i) => a * one + (1 - a) * below[i]);
    const luminance = rgb => {
        const [r, g, b] = rgb.map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (one, other) => {
        const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (light + 0.05) / (dark + 0.05);
    };
    const opacity = one => {
        let all = 1;
        for (; one && one.tagName !== 'MAIN'; one = one.parentElement) {
            all *= Number(getComputedStyle(one).opacity);
        }
        return all;
    };
    const fill = one => {
        const style = getComputedStyle(one);
        if (style.fill === 'none' || style.visibility !== 'visible' || style.display === 'none') {
            return [0, 0, 0, 0];
        }
        const result = colour(style.fill);
        result[3] *= Number(style.fillOpacity) * opacity(one);
        return result;
    };
    const page = one => {
        let behind = [1, 1, 1];
        const above = [];
        for (; one; one = one.parentElement) {
            above.unshift(colour(getComputedStyle(one).backgroundColor));
        }
        above.forEach(layer => { behind = over(layer, behind); });
        return behind;
    };

    // Figures must have a title, a description, and readable text.
    for (const figure of document.querySelectorAll('main svg[role="img"]')) {
        const labels = (figure.getAttribute('aria-labelledby') || '').split(/\s+/)
            .map(id => document.getElementById(id)?.textContent.trim());
        if (labels.length < 2 || labels.some(text => !text)) {
            wrong.push(`${named(figure)} lacks a title or a description`);
        }
        if (figure.getBoundingClientRect().width < 100) {
            wrong.push(`${named(figure)} is not visible`);
            continue;
        }
        // A reader may choose larger figures on the interactive page.
        if (figure.getBoundingClientRect().height > innerHeight && !figure.closest('#patterns')) {
            wrong.push(`${named(figure)} is higher than the window`);
        }
        const shapes = [...figure.querySelectorAll('rect, circle, ellipse, polygon, path, text')]
            .filter(one => !one.closest('defs, clipPath, mask, marker, pattern, symbol'));
        const boxes = new Map(shapes.map(one => [one, one.getBoundingClientRect()]));
        const background = page(figure);
        const faults = new Map();
        shapes.forEach((text, index) => {
            if (text.tagName !== 'text' || !text.textContent.trim()) {
                return;
            }
            const box = boxes.get(text);
            const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
            let behind = background;
            for (const shape of shapes.slice(0, index)) {
                const around = boxes.get(shape);
                if (shape.tagName !== 'text' && around.left <= x && x <= around.right &&
                    around.top <= y && y <= around.bottom) {
                    behind = over(fill(shape), behind);
                }
            }
            const size = parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a;
            const ratio = contrast(over(fill(text), behind), behind);
            if (size < 10.95) {
                faults.set('small', `${named(text)} is ${size.toFixed(1)} px high`);
            }
            if (ratio < 4.5) {
                faults.set('pale', `${named(text)} has a contrast of ${ratio.toFixed(1)} to 1; required: at least 4.5`);
            }
            if (box.left < figure.getBoundingClientRect().left - 1 ||
                box.right > figure.getBoundingClientRect().right + 1) {
                faults.set('cut', `${named(text)} is cut off at the figure's edge`);
            }
        });
        const title = figure.querySelector('title')?.textContent;
        faults.forEach(fault => wrong.push(`figure "${title}": ${fault}`));
    }
    return wrong;
}
