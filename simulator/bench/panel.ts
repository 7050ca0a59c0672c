// The panel of the test bench: a page that the control port serves to a browser of this machine, with the commands of the prompt as
// buttons and the truth of the simulated hardware. It asks its own port only, and its policy allows no inline code.
import { html } from '../report/html.ts';
import { style } from '../report/style.ts';

interface PanelFile {
  readonly type: string;
  readonly body: string;
}

interface Button {
  readonly text: string;
  /** As at the prompt. */
  readonly command: string;
}

const groups: Readonly<Record<string, readonly Button[]>> = {
  Driving: [
    { text: 'Drive', command: 'drive' },
    { text: 'Stop', command: 'stop' },
    { text: 'Ignition on', command: 'ignition on' },
    { text: 'Ignition off', command: 'ignition off' },
  ],
  'What happens': [
    { text: 'Press the panic button for 4 s', command: 'panic press 4000' },
    { text: 'Open the cargo door', command: 'door cargo open' },
    { text: 'Close the cargo door', command: 'door cargo close' },
    { text: 'Cut the supply', command: 'input externalPower off' },
    { text: 'Connect the supply', command: 'input externalPower on' },
    { text: 'Tow it away', command: 'tow 25' },
    { text: 'Let go', command: 'tow 0' },
  ],
  'Receiver and board': [
    { text: 'Jam the receiver', command: 'jam on' },
    { text: 'End the jamming', command: 'jam off' },
    { text: 'Pull the receiver', command: 'pull gnss' },
    { text: 'Plug the receiver', command: 'plug gnss' },
    { text: 'Pull the board', command: 'pull board' },
    { text: 'Plug the board', command: 'plug board' },
  ],
};

/** Facts of the state, by the name of the cell that the script fills. */
const facts = {
  vehicle: 'Vehicle',
  inputs: 'Inputs that are active',
  relays: 'Relays that are energised',
  receiver: 'Receiver',
  board: 'Board',
  moving: 'Cut while moving',
} as const;

const buttons = Object.entries(groups).map(
  ([name, all]) =>
    html`<section role="group" aria-label="${name}"><h2>${name}</h2><p class="buttons">${all.map(
      ({ text, command }) =>
        html`<button type="button" data-command="${command}" title="${command}">${text}</button> `,
    )}</p></section>`,
);

const rows = Object.entries(facts).map(
  ([name, text]) => html`<div><dt>${text}</dt><dd data-fact="${name}">unknown</dd></div>`,
);

const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Simulated hardware · Fleetward</title><link rel="stylesheet" href="/panel.css"><script src="/panel.js" defer></script></head>
<body><header><h1>Simulated hardware</h1>
<p class="soft">A board and a receiver on two serial ports, for one real agent. Buttons are commands of the prompt. Nothing here reaches a vehicle.</p></header>
<main><section aria-label="State"><h2>As it truly is</h2><dl class="facts">${rows}</dl></section>${buttons}
<p role="status" id="said"></p></main></body></html>
`;

const panelStyle = `
.buttons{display:flex;flex-wrap:wrap;gap:8px;max-width:none}
button{font:inherit;min-height:40px;padding:0 14px;border:1px solid var(--grey);border-radius:8px;background:var(--card);color:var(--ink);cursor:pointer}
button:hover{background:var(--page)}
.facts{display:grid;gap:6px;margin:0}
.facts div{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,2fr);gap:12px}
.facts dt{color:var(--soft)}.facts dd{margin:0;overflow-wrap:anywhere}
#said{min-height:3em;white-space:pre-wrap}`;

const script = `(() => {
  'use strict';
  const said = document.getElementById('said');
  const everyMs = 1000;
  const namesOf = (record) => Object.entries(record).flatMap(([name, isOn]) => (isOn ? [name] : []));
  const textsOf = ({ vehicle, inputs, relays, gnss, plugged, board, cutWhileMoving }) => ({
    vehicle: vehicle.speedKmh.toFixed(1) + ' km/h, engine ' + vehicle.engine + ', at ' +
      vehicle.latitude.toFixed(5) + ', ' + vehicle.longitude.toFixed(5),
    inputs: namesOf(inputs).join(', ') || 'none',
    relays: namesOf(relays).join(', ') || 'none',
    receiver: gnss.fix + (plugged.gnss ? '' : ', pulled'),
    board: board + (plugged.board ? '' : ', pulled'),
    moving: cutWhileMoving === 0 ? 'never' : cutWhileMoving + ' times',
  });
  const show = (state) => {
    for (const [name, text] of Object.entries(textsOf(state))) {
      const cell = document.querySelector('[data-fact="' + name + '"]');
      if (cell.textContent !== text) cell.textContent = text;
    }
  };
  const fail = (error) => void (said.textContent = 'The simulated hardware does not answer: ' + error.message);
  const look = async () => {
    try {
      show(await (await fetch('/state')).json());
    } catch (error) {
      fail(error);
    }
    setTimeout(look, everyMs);
  };
  const run = async (command) => {
    const headers = { 'content-type': 'application/json' };
    try {
      const answer = await (await fetch('/command', { method: 'POST', headers, body: JSON.stringify({ command }) })).json();
      said.textContent = '> ' + command + '\\n' + (answer.error === undefined ? answer.said : answer.error.message);
      if (answer.state !== undefined) show(answer.state);
    } catch (error) {
      fail(error);
    }
  };
  document.addEventListener('click', ({ target }) => {
    const command = target.closest('button')?.dataset.command;
    if (command !== undefined) void run(command);
  });
  void look();
})();
`;

/** What a browser is told to allow: files of this port, no inline code, no frame. */
export const panelPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** By path. */
export const panelFiles: Readonly<Record<string, PanelFile>> = {
  '/': { type: 'text/html; charset=utf-8', body: page.markup },
  '/panel.css': { type: 'text/css; charset=utf-8', body: style + panelStyle },
  '/panel.js': { type: 'text/javascript; charset=utf-8', body: script },
};
