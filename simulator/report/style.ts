// How a report looks: light, dark and on paper, without a font or a picture from elsewhere. Text never has less contrast than 4.5 to 1.

/** On paper, whatever the theme; the page's script sets the class while it draws for paper. */
const paper = `color-scheme:light;--page:#fff;--card:#ffffff;--ink:#000;--soft:#333;--rule:#bbb;--grid:#ddd;
--blue:#1a5fd0;--green:#16783a;--orange:#b45309;--violet:#7c3aed;--grey:#6b7785;--red:#c62828;
--good:#11632f;--good-back:#fff;--bad:#a11717;--bad-back:#fff;--note:#7a4a00;--note-back:#fff;--fault:#d97706`;

/** Colours of lines, shades and cards have six digits: the page's script adds an alpha. */
const colours = `
:root{color-scheme:light dark;--page:#f4f6f8;--card:#ffffff;--ink:#12181f;--soft:#4a5563;--rule:#d5dbe2;--grid:#e4e8ed;
--blue:#1a5fd0;--green:#16783a;--orange:#b45309;--violet:#7c3aed;--grey:#7b8794;--red:#c62828;
--good:#11632f;--good-back:#dff3e5;--bad:#a11717;--bad-back:#fce4e4;--note:#7a4a00;--note-back:#fdf0d5;--fault:#d97706}
@media (prefers-color-scheme:dark){:root{--page:#0d1117;--card:#151b23;--ink:#e7edf4;--soft:#a3b0be;--rule:#2d3642;--grid:#232b35;
--blue:#6ea8fe;--green:#4cc38a;--orange:#f2a65a;--violet:#b79cf7;--grey:#8b98a7;--red:#ff7b72;
--good:#7ee2a8;--good-back:#12301f;--bad:#ff9d96;--bad-back:#3a1719;--note:#f5c76b;--note-back:#33270f;--fault:#f2a65a}}
@media print{:root{${paper}}}
:root.paper{${paper}}`;

const text = `
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;-webkit-text-size-adjust:100%}
main,header,footer{max-width:1080px;margin:0 auto;padding:0 20px}
header{padding-top:32px}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 4px;letter-spacing:-.01em}
h2{font-size:1.2rem;margin:0 0 12px}
h3{font-size:1rem;margin:0}
small,.soft{color:var(--soft);font-weight:400}
p.soft{max-width:none}
p{margin:0 0 8px;max-width:75ch}
section,.verdict{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:20px;margin:16px 0}
code,pre{font:0.875rem/1.5 ui-monospace,"SF Mono",Menlo,Consolas,monospace}
pre{overflow:auto;background:var(--page);border:1px solid var(--rule);border-radius:6px;padding:12px;margin:8px 0;max-height:480px}
pre.command{white-space:pre-wrap;overflow-wrap:anywhere}
details{margin-top:10px}
summary{cursor:pointer;color:var(--soft)}
:focus-visible{outline:2px solid var(--blue);outline-offset:2px;border-radius:3px}
.verdict{border-left-width:8px;display:grid;gap:8px}
.verdict.good{border-left-color:var(--good)}.verdict.bad{border-left-color:var(--bad)}
.verdict strong{font-size:1.4rem;line-height:1.2}
.verdict.good strong{color:var(--good)}.verdict.bad strong{color:var(--bad)}
.verdict ul,.notes ul,.gaps{margin:0;padding-left:1.2em}
.gaps{margin-top:6px}
nav ol{display:flex;flex-wrap:wrap;gap:2px 18px;margin:10px 0 0;padding:0;list-style:none;counter-reset:part;font-size:.9375rem}
nav li{counter-increment:part}nav li::before{content:counter(part) ". ";color:var(--soft)}
a{color:var(--blue)}
section{scroll-margin-top:8px}
.notes{background:var(--note-back)}.notes h2{color:var(--note)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:16px 0;padding:0}
.tiles div{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:12px 16px}
.tiles dt{color:var(--soft);font-size:.8125rem}
.tiles dd{margin:0;font-size:1.35rem;font-weight:600;font-variant-numeric:tabular-nums;line-height:1.3}
.tiles dd small{font-size:.8125rem;display:block;line-height:1.3}
.pill{display:inline-block;border-radius:999px;padding:0 10px;font-size:.875rem;white-space:nowrap}
.pill.good{background:var(--good-back);color:var(--good)}.pill.bad{background:var(--bad-back);color:var(--bad);font-weight:600}
.pill.open{border:1px solid var(--rule);color:var(--soft)}`;

const tables = `
.table{overflow-x:auto}.table+.table{margin-top:18px}.table+p{margin-top:10px}
table{border-collapse:collapse;width:100%;font-size:.9375rem}
caption{text-align:left;color:var(--soft);font-size:.875rem;padding-bottom:6px}
th,td{text-align:left;padding:6px 12px 6px 0;border-bottom:1px solid var(--rule);vertical-align:top}
thead th{color:var(--soft);font-weight:500;font-size:.8125rem;white-space:nowrap}
tbody th{font-weight:500}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:4px 20px;margin:0}
dl.facts dt{color:var(--soft)}dl.facts dd{margin:0;overflow-wrap:anywhere}
ol.found{margin:8px 0 0;padding-left:2.2em;font-size:.9375rem;overflow-wrap:anywhere}`;

const plots = `
.plot{margin:0;padding:18px 0 10px;border-top:1px solid var(--rule);break-inside:avoid}
.tools{position:sticky;top:0;background:var(--card);padding:8px 0;z-index:2}
.tools[hidden]{display:none}
.tools p{display:flex;flex-wrap:wrap;gap:6px 12px;align-items:center;max-width:none;margin:0 0 4px}
.tools input{flex:1 1 120px;min-width:0;accent-color:var(--blue);min-height:24px}
.tools output{min-width:5em;font-variant-numeric:tabular-nums}
button{font:inherit;font-size:.875rem;color:var(--ink);background:var(--page);border:1px solid var(--soft);border-radius:6px;padding:3px 10px;cursor:pointer}
button[aria-disabled=true]{color:var(--soft);border-color:var(--rule);cursor:default}
.plot figcaption p{color:var(--soft);font-size:.875rem;margin:2px 0 6px;max-width:none}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 20px;margin:0 0 6px;padding:0;font-size:.875rem}
.legend .now{color:var(--soft);font-variant-numeric:tabular-nums}
.key{width:24px;height:10px;vertical-align:middle;margin-right:6px}
.plane{overflow:hidden}
.u-select{background:color-mix(in srgb,var(--ink) 14%,transparent)}
.u-hz .u-cursor-x{border-right:1px solid var(--ink)}
.line,.dashes,.dots{fill:none;vector-effect:non-scaling-stroke}
.line,.dashes{stroke-width:1.75;stroke-linejoin:round}
.dashes{stroke-dasharray:5 4}
.dots{stroke-width:5;stroke-linecap:round}
path.blue{stroke:var(--blue)}path.green{stroke:var(--green)}path.orange{stroke:var(--orange)}path.violet{stroke:var(--violet)}path.grey{stroke:var(--grey)}path.red{stroke:var(--red)}
.absent{color:var(--soft);border-top:1px solid var(--rule);padding-top:12px;margin-top:12px;max-width:none}`;

const map = `
figure.map{margin:0}h3:not(figcaption h3){margin-top:16px}.map svg{width:100%;min-width:640px;height:auto;max-height:620px;display:block;background:var(--page);border:1px solid var(--rule);border-radius:6px}
.map path{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round;vector-effect:non-scaling-stroke}
.map g:hover path{stroke-width:4}
.map .start,.map g:hover .start{stroke-width:8}
.map .bar{stroke:var(--ink);stroke-width:2}
.map .leader{stroke:var(--soft);stroke-width:.75}
.map text{font-size:170px;font-weight:600;text-anchor:middle;dominant-baseline:central;paint-order:stroke;stroke:var(--page);stroke-width:40px;stroke-linejoin:round}
text.blue,b.blue{fill:var(--blue);color:var(--blue)}text.green,b.green{fill:var(--green);color:var(--green)}text.orange,b.orange{fill:var(--orange);color:var(--orange)}text.violet,b.violet{fill:var(--violet);color:var(--violet)}text.grey,b.grey{fill:var(--soft);color:var(--soft)}text.red,b.red{fill:var(--red);color:var(--red)}
.vehicles{list-style:none;margin:8px 0 0;padding:0;columns:17em;font-size:.875rem;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.vehicles li{break-inside:avoid}
footer{color:var(--soft);font-size:.875rem;padding-top:8px;padding-bottom:40px}
@media (max-width:600px){.tools{position:static}.tiles{grid-template-columns:1fr 1fr}table{font-size:.875rem}th,td{padding-right:8px}main,header,footer{padding:0 12px}section,.verdict{padding:14px}dl.facts{grid-template-columns:1fr}dl.facts dd{margin-bottom:6px}}
@media print{body{font-size:10pt}main,header,footer{max-width:none;padding:0}section,.verdict{border-color:#bbb;padding:10pt;break-inside:auto}
.tools,.plot details,section>details:not([open]){display:none}.plane,.key,.pill{-webkit-print-color-adjust:exact;print-color-adjust:exact}.map svg{min-width:0}
h2,h3,figcaption{break-after:avoid}pre{max-height:none;overflow:visible;white-space:pre-wrap}tr{break-inside:avoid}}`;

export const style = [colours, text, tables, plots, map].join('').replaceAll('\n', '');
