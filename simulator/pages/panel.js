// The script of the panel of the test bench: shows the state of the hardware, and sends the command of a button.
(() => {
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
      said.textContent = '> ' + command + '\n' + (answer.error === undefined ? answer.said : answer.error.message);
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
