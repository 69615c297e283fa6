// The interactive page: a form whose pattern the simulator runs, here in the browser, and draws.
// The simulator is a script of its own, made by scripts/figures --page, which only that page loads.
(() => {
    "use strict";
    const root = document.getElementById("patterns");
    if (!root) return;
    const chinese = document.documentElement.lang.startsWith("zh");
    const say = (english, other) => (chinese ? other : english);

    const EXAMPLES = [
        ["", "coalesced", "合并访问"],
        ["offset=1", "one element further on", "后移一个元素"],
        ["stride=2", "every second element", "每隔一个元素"],
        ["stride=32", "one element a line", "每行一个元素"],
        ["element=16", "16 bytes a thread", "每个线程 16 字节"],
        ["block=16x2&pitch=1024", "a block of 16 × 2", "16 × 2 的线程块"],
        ["order=columns", "down a column", "沿列读取"],
        ["space=shared&order=columns&pitch=128", "a column of tile[32][32]", "tile[32][32] 的一列"],
        ["space=shared&order=columns&pitch=132", "a column of tile[32][33]", "tile[32][33] 的一列"],
        ["space=shared&stride=2", "shared, every second word", "共享内存，每隔一个字"],
        ["space=constant&order=one", "constant, one for all", "常量，所有线程同一个"],
        ["space=constant", "constant, one a thread", "常量，每个线程一个"],
        ["order=random&space=constant", "constant, pseudo-random", "常量，伪随机"],
    ];
    const DEFAULTS = {
        space: "global", order: "rows", element: "4", x: "32", y: "1",
        pitch: "512", stride: "1", offset: "0", warp: "0",
    };
    const FIELDS = [
        ["space", say("Memory", "内存"), [
            ["global", say("global", "全局内存")],
            ["read-only", say("global, by __ldg", "全局内存，用 __ldg")],
            ["shared", say("shared", "共享内存")],
            ["constant", say("constant", "常量内存")],
        ]],
        ["order", say("Pattern", "模式"), [
            ["rows", say("along rows", "沿行")],
            ["columns", say("down columns", "沿列")],
            ["one", say("one element for all", "所有线程同一个元素")],
            ["random", say("pseudo-random", "伪随机")],
        ]],
        ["element", say("Bytes of an element", "元素的字节数"), ["1", "2", "4", "8", "16"].map((n) => [n, n])],
        ["x", say("Block, x", "线程块 x"), 1, 1024],
        ["y", say("Block, y", "线程块 y"), 1, 1024],
        ["pitch", say("Pitch, bytes", "pitch，字节"), 0, 65536],
        ["stride", say("Stride, elements", "步长，元素"), 0, 65536],
        ["offset", say("Offset, elements", "偏移量，元素"), 0, 65536],
        ["warp", say("Warp to draw", "画哪个线程束"), 0, 31],
    ];

    function make(tag, attributes = {}, children = []) {
        const element = document.createElement(tag);
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
        element.append(...children);
        return element;
    }

    function select(name, options) {
        const all = options.map(([value, text]) => make("option", { value }, [text]));
        return make("select", { name, id: "pattern-" + name }, all);
    }

    function labelled(text, control) {
        return make("label", { for: control.id }, [text, control]);
    }

    const form = make("form", { "aria-label": say("Access pattern", "访问模式") });
    const example = select("example", [["-", say("your own", "自己选择")]]
        .concat(EXAMPLES.map(([query, english, other]) => [query, say(english, other)])));
    form.append(labelled(say("Example", "例子"), example));
    for (const [name, text, first, last] of FIELDS) {
        const control = Array.isArray(first)
            ? select(name, first)
            : make("input", { name, id: "pattern-" + name, type: "number", min: first, max: last, step: 1 });
        form.append(labelled(text, control));
    }
    const result = make("p", { class: "result", role: "status" }, [say("The simulator is loading …", "模拟器正在加载……")]);
    const picture = make("div", { class: "picture" });
    const table = make("tbody");
    const counters = make("div", { class: "table-wrapper" }, [make("table", {}, [
        make("thead", {}, [make("tr", {}, [
            make("th", { scope: "col" }, [say("counter", "计数器")]),
            make("th", { scope: "col" }, [say("in all", "合计")]),
        ])]),
        table,
    ])]);
    root.classList.add("patterns");
    root.replaceChildren(form, result, make("div", { class: "shown" }, [picture, counters]));

    // The form and the pattern as text.
    function fill(query) {
        const values = { ...DEFAULTS };
        for (const [name, value] of new URLSearchParams(query)) {
            if (name === "block") [values.x, values.y] = value.split("x");
            else values[name] = value;
        }
        for (const [name, value] of Object.entries(values)) form.elements[name].value = value;
    }

    function query() {
        const value = (name) => form.elements[name].value.trim();
        const parts = ["space", "order", "element", "pitch", "stride", "offset", "warp"];
        return parts.map((name) => name + "=" + value(name)).join("&") + "&block=" + value("x") + "x" + value("y");
    }

    // The simulator: text in, text out, through its memory.
    let ask = null;
    async function load(zipped) {
        const bytes = Uint8Array.from(atob(zipped), (character) => character.charCodeAt(0));
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
        const module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
        return async (question) => {
            // A fresh one each time: whatever went wrong before is gone.
            const { input, ask, output, memory } = (await WebAssembly.instantiate(module, {})).exports;
            const text = new TextEncoder().encode(question);
            // Each call may make the memory grow, which replaces its buffer.
            const room = input(text.length);
            new Uint8Array(memory.buffer, room, text.length).set(text);
            const length = ask();
            const place = output();
            return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, place, length)));
        };
    }

    function show(answer) {
        const wrong = answer.problem !== undefined;
        result.classList.toggle("problem", wrong);
        result.textContent = wrong ? answer.problem : answer.pattern + say(". ", "。") + answer.result + say(".", "。");
        root.dataset.query = query();
        root.dataset.sums = wrong ? "" : JSON.stringify(answer.sums);
        picture.innerHTML = wrong ? "" : answer.svg;
        counters.hidden = wrong;
        table.replaceChildren(...(answer.counters || []).map(({ name, plain, value }) => make("tr", {}, [
            make("td", {}, [plain, make("br"), make("code", {}, [name])]),
            make("td", {}, [String(value)]),
        ])));
        if (!wrong) form.elements.warp.max = answer.warps - 1;
    }

    let newest = 0;
    async function update() {
        if (!ask) return;
        const number = ++newest;
        const question = query() + "&lang=" + say("en", "zh");
        let answer;
        try {
            answer = await ask(question);
        } catch (error) {
            answer = { problem: say("The simulator stopped: ", "模拟器停止了：") + error.message };
        }
        if (number === newest) show(answer);
    }

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (event) => {
        if (event.target === example) {
            if (example.value !== "-") fill(example.value);
        } else {
            example.value = "-";
        }
        update();
    });

    // The script made by scripts/figures --page calls this.
    window.warpbookSimulator = async (zipped) => {
        try {
            ask = await load(zipped);
            await update();
        } catch (error) {
            show({ problem: say("This browser cannot run it: ", "这个浏览器无法运行模拟器：") + error.message });
        }
    };
    fill("");
    const script = make("script", { src: root.dataset.simulator });
    script.addEventListener("error", () => show({ problem: say(
        "The simulator is not there: build the book with scripts/book.",
        "找不到模拟器：请用 scripts/book 构建本书。",
    ) }));
    document.head.append(script);
})();
