// The only script of a report: a line that shows one moment in all plots, moved with the pointer or, by keyboard, with a slider. The page
// is whole without it. It reads the data of the page and asks nobody anything.

export const script = `(() => {
  'use strict';
  const island = document.getElementById('series');
  const slider = document.getElementById('moment');
  if (!island || !slider) return;
  const { endMs, plots } = JSON.parse(island.textContent);
  const words = document.getElementById('moment-words');
  const two = (value) => String(value).padStart(2, '0');
  const clock = (ms) => {
    const s = Math.round(ms / 1000);
    const days = Math.floor(s / 86400);
    const hours = Math.floor(s / 3600) % 24;
    const minutes = Math.floor(s / 60) % 60;
    const long = days > 0 || hours > 0;
    return (days > 0 ? days + ' d ' : '') + (long ? hours + ':' + two(minutes) : minutes) + ':' + two(s % 60);
  };
  const figures = plots.map(({ id, traces }) => {
    const figure = document.getElementById('plot-' + id);
    const now = [...figure.querySelectorAll('.now')];
    return {
      traces, now,
      plane: figure.querySelector('.plane'),
      cursor: figure.querySelector('.cursor'),
      rest: now.map((span) => span.textContent),
    };
  });
  const format = (value) => value === null || value === undefined ? 'nothing' : value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 2 : 0 });
  const show = (part) => {
    const ms = part * endMs;
    const text = clock(ms);
    words.textContent = text;
    slider.setAttribute('aria-valuetext', text);
    for (const { traces, now, cursor } of figures) {
      cursor.hidden = false;
      cursor.style.left = part * 100 + '%';
      traces.forEach(({ stepMs, values }, at) => {
        now[at].textContent = format(values[Math.min(values.length - 1, Math.floor(ms / stepMs))]);
      });
    }
  };
  const hide = () => {
    words.textContent = '';
    for (const { now, cursor, rest } of figures) {
      cursor.hidden = true;
      now.forEach((span, at) => { span.textContent = rest[at]; });
    }
  };
  slider.closest('p').hidden = false;
  slider.addEventListener('input', () => show(slider.value / 1000));
  for (const { plane } of figures) {
    plane.addEventListener('pointermove', (event) => {
      const box = plane.getBoundingClientRect();
      const part = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      slider.value = Math.round(part * 1000);
      show(part);
    });
    plane.addEventListener('pointerleave', hide);
  }
  addEventListener('beforeprint', hide);
})();`;
