/** On top of Pico (classless); the colours of the platform's demo pages. */
export const STYLE = `
@font-face {
  font-family: "Inter Variable"; font-weight: 100 900; font-display: swap;
  src: url("/office/inter-latin-wght-normal.woff2") format("woff2");
  /* Without double quotation marks, which Chinese has as wide as its characters. */
  unicode-range: U+0000-00FF, U+0131, U+0152-0153, U+02BB-02BC, U+02C6, U+02DA, U+02DC, U+0304, U+0308, U+0329,
    U+2000-201B, U+201E-206F, U+20AC, U+2122, U+2191, U+2193, U+2212, U+2215, U+FEFF, U+FFFD;
}
:root {
  --ground: #f3f5f9; --card: #fff; --line: #dfe4ee; --text: #1b2333; --faint: #566178; --border: #8691a8;
  --accent: #0f6b4f; --accent-strong: #0b5740; --on-accent: #fff; --tint: #e8f4ef;
  --alarm: #a61b1b; --alarm-tint: #fdf0f0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e131d; --card: #171e2b; --line: #2c3648; --text: #e8ecf4; --faint: #a5b0c5;
    --accent: #6fd3ae; --accent-strong: #97e2c6; --on-accent: #06281c; --tint: #16332a;
    --alarm: #ffb4b4; --alarm-tint: #3a1f25;
  }
}
:root:not([data-theme]) {
  --pico-font-size: 100%;
  --pico-font-family: "Inter Variable", "PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "Noto Sans CJK SC",
    "Noto Sans SC", sans-serif;
  --pico-background-color: var(--ground);
  --pico-color: var(--text);
  --pico-h1-color: var(--text);
  --pico-h2-color: var(--text);
  --pico-h3-color: var(--text);
  --pico-primary: var(--accent);
  --pico-primary-hover: var(--accent-strong);
  --pico-primary-background: var(--accent);
  --pico-primary-border: var(--accent);
  --pico-primary-inverse: var(--on-accent);
  --pico-code-color: var(--text);
  --pico-form-element-background-color: var(--card);
  --pico-form-element-active-background-color: var(--card);
  --pico-form-element-border-color: var(--border);
  --pico-form-element-active-border-color: var(--accent);
  --pico-accordion-close-summary-color: var(--accent);
  --pico-accordion-open-summary-color: var(--accent);
  --pico-border-radius: 0.5rem;
  --pico-form-element-spacing-vertical: 0.45rem;
  --pico-form-element-spacing-horizontal: 0.7rem;
  --pico-spacing: 0.75rem;
}
body > header, body > main { width: 100%; max-width: 72rem; margin: 0 auto; padding: 1rem; }
body > header { padding-bottom: 0; }
.brand { margin: 0 0 0.5rem; font-weight: 700; }
nav { flex-wrap: wrap; justify-content: flex-start; align-items: center; gap: 0.25rem 0.5rem; }
nav a { margin: 0; padding: 0.35rem 0.7rem; border-radius: 99rem; background: var(--tint); text-decoration: none; }
h1 { margin: 0.5rem 0 0; font-size: 1.75rem; }
h2 { margin: 0 0 0.5rem; font-size: 1.25rem; }
h3 { margin: 0 0 0.25rem; font-size: 1rem; overflow-wrap: anywhere; }
h3 small, .note, .lead { color: var(--faint); }
h3 small { display: block; font-weight: 400; }
section { margin: 2rem 0 0; scroll-margin-top: 1rem; }
p { margin: 0 0 0.25rem; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: 0.75rem; margin: 0; padding: 0; }
.cards.one { grid-template-columns: 1fr; }
.cards li, fieldset {
  min-width: 0; margin: 0; padding: 1rem; border: 1px solid var(--line); border-radius: 0.75rem;
  background: var(--card); list-style: none;
}
form, details { margin: 0.5rem 0 0; padding: 0; border: 0; }
form label { margin: 0 0 0.5rem; font-size: 0.9375rem; }
form label input, form label select { margin-top: 0.2rem; }
form input, form select, form button { margin-bottom: 0 !important; }
form.line { display: flex; flex-wrap: wrap; align-items: end; gap: 0.5rem; }
form.line label { flex: 1 1 9rem; margin: 0; }
form.line .wide { flex-basis: 100%; }
button, button[type="submit"], .button {
  width: auto; padding: 0.5rem 1rem; border: 1px solid var(--accent); border-radius: 0.5rem;
  background: var(--accent); box-shadow: none; color: var(--on-accent); font-weight: 700;
}
button:hover { border-color: var(--accent-strong); background: var(--accent-strong); }
.second, button.second, nav .second { border: 1px solid var(--border); background: transparent; color: var(--text); }
.second:hover, button.second:hover { border-color: var(--text); background: var(--tint); }
:focus-visible, input:focus-visible, button:focus-visible, summary:focus-visible {
  outline: 3px solid var(--accent) !important; outline-offset: 2px; box-shadow: none;
}
.alert, .good { margin: 1rem 0 0; padding: 0.75rem 1rem; border-left: 4px solid var(--alarm); border-radius: 0.375rem; background: var(--alarm-tint); color: var(--alarm); }
.good { border-color: var(--accent); background: var(--tint); color: var(--text); }
.alert button { display: block; margin-top: 0.5rem; }
.yes { color: var(--accent); }
.no { color: var(--alarm); }
code { padding: 0; background: none; color: inherit; font-size: 0.875em; overflow-wrap: anywhere; }
pre { margin: 0.5rem 0 0; padding: 0.75rem; font-size: 0.8125rem; overflow-x: auto; }
.groups { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); gap: 0.75rem; align-items: start; margin-bottom: 0.75rem; }
fieldset legend { float: left; width: 100%; margin-bottom: 0.5rem; font-weight: 700; }
.switch { display: flex; gap: 0.6rem; clear: both; padding: 0.25rem 0; }
.switch input { flex: none; margin: 0.15rem 0 0 !important; border-radius: 0.25rem; }
.switch code { display: block; color: var(--faint); }
`
