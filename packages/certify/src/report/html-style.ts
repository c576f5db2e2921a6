/** Style of the page. Filters work without a script: the style hides what the checked radio button leaves out. */
export const STYLE = `
:root { color-scheme: light dark;
  --back: light-dark(#ffffff, #16181c); --raised: light-dark(#f4f5f7, #1f2228); --text: light-dark(#1d2127, #e6e8eb);
  --soft: light-dark(#59616b, #a4abb5); --line: light-dark(#d9dde3, #353a43);
  --passed: light-dark(#1a7f37, #57c97a); --failed: light-dark(#b3261e, #ff8a80);
  --na: light-dark(#59616b, #a4abb5); --notrun: light-dark(#8a5a00, #e3b341);
  --mark: light-dark(#fff1f0, #3a1d1c); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
header, main, footer { max-width: 72rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; overflow-wrap: anywhere; }
h2 small { color: var(--soft); font-weight: normal; font-size: .85rem; }
.standing { font-weight: 600; margin: .25rem 0 1rem; }
.standing.certified { color: var(--passed); } .standing.failed { color: var(--failed); } .standing.incomplete { color: var(--notrun); }
dl.facts { display: grid; grid-template-columns: fit-content(14rem) 1fr; gap: .15rem 1rem; margin: 0 0 1rem; }
dl.facts dt { color: var(--soft); overflow-wrap: anywhere; } dl.facts dd { margin: 0; overflow-wrap: anywhere; }
code, pre { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
.bar { display: block; width: 100%; height: .6rem; border-radius: .3rem; background: var(--line); }
.bar .passed { fill: var(--passed); } .bar .failed { fill: var(--failed); }
.bar .na { fill: var(--na); opacity: .5; } .bar .notrun { fill: var(--notrun); }
fieldset { border: 0; padding: 0; margin: 1rem 0 0; display: flex; flex-wrap: wrap; gap: .5rem; }
legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
fieldset label { border: 1px solid var(--line); border-radius: 1rem; padding: .15rem .8rem; cursor: pointer; }
fieldset label:hover { background: var(--raised); }
fieldset label:has(:checked) { background: var(--text); color: var(--back); border-color: var(--text); }
fieldset label:focus-within { outline: 2px solid var(--passed); outline-offset: 2px; }
fieldset input { position: absolute; opacity: 0; pointer-events: none; }
.rule { border-top: 1px solid var(--line); padding: .55rem 0; display: grid; gap: 0 1rem;
  grid-template-columns: 8.5rem 11rem minmax(0, 1fr) max-content; }
.rule:target { background: var(--raised); }
.rule > .verdict { font-weight: 600; }
.rule.passed > .verdict { color: var(--passed); } .rule.failed > .verdict { color: var(--failed); }
.rule.na > .verdict { color: var(--na); } .rule.notrun > .verdict { color: var(--notrun); }
.rule > a { color: inherit; text-decoration: none; white-space: nowrap; } .rule > a:hover { text-decoration: underline; }
.rule > .time { color: var(--soft); font-variant-numeric: tabular-nums; text-align: right; }
.rule > .more { grid-column: 3 / -1; min-width: 0; }
.level { color: var(--soft); font-size: .8rem; border: 1px solid var(--line); border-radius: .25rem; padding: 0 .35rem; white-space: nowrap; }
.reason { margin: .25rem 0 0; color: var(--soft); white-space: pre-wrap; overflow-wrap: anywhere; }
.failed .reason { color: var(--text); }
summary { cursor: pointer; color: var(--soft); margin: .35rem 0; }
.exchange { border-left: 3px solid var(--line); background: var(--raised); margin: .35rem 0; padding: .35rem .75rem; }
.exchange.marked { border-left-color: var(--failed); background: var(--mark); }
.exchange b { font-size: .8rem; color: var(--soft); } .exchange.marked b { color: var(--failed); }
.exchange pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 24rem; overflow: auto; }
footer { color: var(--soft); padding: 2rem 1.25rem 3rem; }
body:has(#show-failed:checked) .rule:not(.failed), body:has(#show-passed:checked) .rule:not(.passed),
body:has(#show-left:checked) :is(.rule.passed, .rule.failed), body:has(#show-core:checked) .rule.extended { display: none; }
body:has(#show-failed:checked) section:not(:has(.failed)), body:has(#show-passed:checked) section:not(:has(.passed)),
body:has(#show-left:checked) section:not(:has(.na, .notrun)), body:has(#show-core:checked) section:not(:has(.core)) { display: none; }
@media (max-width: 48rem) { .rule { grid-template-columns: 1fr max-content; } .rule > .title, .rule > .more { grid-column: 1 / -1; }
  .rule > .time { display: none; } }
@media print { fieldset { display: none; } .exchange pre { max-height: none; } }
`;
