// The script of a report beside uPlot, which it draws with: lines, faults and limits of each plot, one zoom and one cursor for all of them,
// by pointer and by keyboard. It reads the data of the page and makes no request. Without it the tables of the page remain.
(() => {
  'use strict';
  const island = document.getElementById('series');
  if (!island) return;
  const { endMs, factsEndMs, spans, plots } = JSON.parse(island.textContent);
  const byId = (id) => document.getElementById(id);
  const [tools, slider, moment, range] = ['tools', 'moment', 'moment-words', 'range'].map(byId);
  const whole = [0, endMs / 1000];
  const leastS = Math.min(whole[1], 2);
  const height = 200;
  const paperWidth = 660;
  let view = whole;
  let cursorS = null;

  const two = (value) => String(value).padStart(2, '0');
  const clock = (seconds) => {
    const s = Math.round(seconds);
    const [days, hours, minutes] = [Math.floor(s / 86400), Math.floor(s / 3600) % 24, Math.floor(s / 60) % 60];
    const long = days > 0 || hours > 0;
    return (days > 0 ? days + ' d ' : '') + (long ? hours + ':' + two(minutes) : minutes) + ':' + two(s % 60);
  };
  const format = (value) => value === null || value === undefined ? 'not measured' :
    value.toLocaleString('en-US', { maximumFractionDigits: value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3 });
  const colour = (name, alpha = '') => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim() + alpha;
  const minutes = [60, 120, 300, 600, 900, 1800];
  const incrs = [1, 2, 5, 10, 15, 30, ...minutes, ...minutes.map((s) => s * 60), ...[1, 2, 5, 10].map((d) => d * 86400)];

  /** Values between two gaps would not be seen as a line: each is a dot. */
  const alone = (plot, series) => {
    const values = plot.data[series];
    const near = (at, step) => {
      let next = at + step;
      while (next in values && values[next] === undefined) next += step;
      return values[next] ?? null;
    };
    return values.flatMap((value, at) => (value ?? null) === null || near(at, -1) !== null || near(at, 1) !== null ? [] : [at]);
  };
  const seriesOf = ({ tone, form }) => ({
    stroke: () => colour(tone),
    width: 1.75,
    ...(form === 'dashes' ? { dash: [5, 4] } : {}),
    ...(form === 'area' ? { fill: () => colour(tone, '29') } : {}),
    ...(form === 'dots' ? { paths: () => null } : {}),
    points: { show: form === 'dots', filter: form === 'dots' ? null : alone, size: 5, width: 0, fill: () => colour(tone) },
  });
  const dataOf = ({ isLog, traces }) => uPlot.join(traces.map(({ stepMs, values }) => [
    values.map((_, at) => (at + 0.5) * stepMs / 1000),
    isLog ? values.map((value) => value === null ? null : Math.max(0.1, value)) : values,
  ]));

  const within = ({ ctx, bbox }, draw) => {
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.font = 12 * uPlot.pxRatio + 'px system-ui, sans-serif';
    ctx.textBaseline = 'top';
    ctx.textAlign = 'left';
    draw(ctx, bbox, uPlot.pxRatio);
    ctx.restore();
  };
  const edgesOf = (plot, { fromMs, toMs }) => {
    const left = plot.valToPos(fromMs / 1000, 'x', true);
    return { left, width: Math.max(3 * uPlot.pxRatio, plot.valToPos(toMs / 1000, 'x', true) - left) };
  };
  const shadeFaults = (plot) => within(plot, (ctx, { top, height }) => {
    ctx.fillStyle = colour('fault', '33');
    for (const span of spans) {
      const { left, width } = edgesOf(plot, span);
      ctx.fillRect(left, top, width, height);
    }
  });
  /** In the first row that is free; a name without a free row is in the table of the faults only. */
  const nameFaults = (plot) => within(plot, (ctx, { left: first, width: all, top }, ratio) => {
    const free = [first, first, first];
    for (const span of spans) {
      const { left, width } = edgesOf(plot, span);
      if (left + width < first || left > first + all) continue;
      const needed = ctx.measureText(span.kind).width + 6 * ratio;
      const from = Math.min(Math.max(first, left) + 3 * ratio, first + all - needed);
      const row = free.findIndex((x) => x <= from);
      if (row < 0) continue;
      free[row] = from + needed;
      const y = top + (row * 16 + 3) * ratio;
      ctx.fillStyle = colour('card', 'd0');
      ctx.fillRect(from - 2 * ratio, y - ratio, needed - 2 * ratio, 15 * ratio);
      ctx.fillStyle = colour('ink');
      ctx.fillText(span.kind, from, y);
    }
  });
  const line = (ctx, tone, dash, [x1, y1, x2, y2]) => {
    ctx.strokeStyle = colour(tone);
    ctx.lineWidth = uPlot.pxRatio;
    ctx.setLineDash(dash.map((part) => part * uPlot.pxRatio));
    ctx.beginPath();
    ctx.moveTo(x1, y1);
    ctx.lineTo(x2, y2);
    ctx.stroke();
  };
  const drawLimits = (plot, limit) => within(plot, (ctx, { left, top, width, height }, ratio) => {
    const endX = plot.valToPos(factsEndMs / 1000, 'x', true);
    if (factsEndMs !== null && factsEndMs < endMs) line(ctx, 'soft', [1, 4], [endX, top, endX, top + height]);
    if (limit === null) return;
    const y = plot.valToPos(limit.value, 'y', true);
    line(ctx, 'bad', [2, 4], [left, y, left + width, y]);
    ctx.fillStyle = colour('bad');
    ctx.textAlign = 'right';
    ctx.fillText(limit.label, left + width - 4 * ratio, y + 3 * ratio);
  });

  const optionsOf = ({ isLog, limit, traces, isBanded }, host) => {
    const withLimit = (low, high) => limit === null ? [low, high] : [Math.min(low, limit.value), Math.max(high, limit.value)];
    const axis = { stroke: () => colour('soft'), grid: { stroke: () => colour('grid'), width: 1 }, ticks: { show: false }, font: '12px system-ui, sans-serif' };
    const rangeY = isLog
      ? (_, low, high) => uPlot.rangeLog(...withLimit(low ?? 1, high ?? 10), 10, true)
      : (_, low, high) => uPlot.rangeNum(...withLimit(0, high || 1), 0.1, true);
    return {
      width: host.clientWidth,
      height,
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => { zoom(...whole); return null; } },
      },
      scales: { x: { time: false, range: () => view }, y: { distr: isLog ? 3 : 1, range: rangeY } },
      axes: [
        { ...axis, incrs, space: 64, size: 26, values: (_, ticks) => ticks.map(clock) },
        { ...axis, size: 60, grid: { ...axis.grid, filter: (_, ticks) => ticks.map((tick) => isLog && Math.log10(tick) % 1 !== 0 ? null : tick) }, values: (_, ticks) => ticks.map((tick) => tick === null ? '' : format(tick)) },
      ],
      series: [{}, ...traces.map(seriesOf)],
      bands: isBanded ? [[2, 1, '4d'], [3, 2, '26']].map(([high, low, alpha]) => ({ series: [high, low], fill: () => colour('blue', alpha) })) : [],
      hooks: {
        drawClear: [shadeFaults],
        draw: [(plot) => drawLimits(plot, limit), nameFaults],
        setCursor: [(plot) => plot.cursor.left < 0 ? hide() : show(plot.posToVal(plot.cursor.left, 'x'), plot)],
        setSelect: [(plot) => {
          const { left, width } = plot.select;
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          if (width > 3) zoom(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'));
        }],
      },
    };
  };

  const figures = plots.map((plan) => {
    const figure = byId('plot-' + plan.id);
    const now = [...figure.querySelectorAll('.now')];
    const host = figure.querySelector('.plane');
    return { ...plan, now, host, rest: now.map((span) => span.textContent), plot: new uPlot(optionsOf(plan, host), dataOf(plan), host) };
  });

  /** At one moment in all plots but that under the pointer, which has its cursor. */
  function show(seconds, pointed = null) {
    cursorS = seconds;
    moment.textContent = clock(seconds);
    slider.value = Math.round((seconds - view[0]) / (view[1] - view[0]) * 1000);
    slider.setAttribute('aria-valuetext', clock(seconds));
    for (const { plot, traces, now } of figures) {
      if (plot !== pointed) plot.setCursor({ left: plot.valToPos(seconds, 'x'), top: 0 }, false);
      traces.forEach(({ stepMs, values }, at) => {
        now[at].textContent = format(values[Math.min(values.length - 1, Math.floor(seconds * 1000 / stepMs))]);
      });
    }
  }
  function hide() {
    cursorS = null;
    moment.textContent = '';
    for (const { plot, now, rest } of figures) {
      plot.setCursor({ left: -10, top: -10 }, false);
      now.forEach((span, at) => { span.textContent = rest[at]; });
    }
  }
  function zoom(from, to) {
    const width = Math.min(whole[1], Math.max(leastS, to - from));
    const start = Math.min(whole[1] - width, Math.max(0, (from + to - width) / 2));
    view = [start, start + width];
    const isWhole = width === whole[1];
    range.textContent = isWhole ? 'whole run' : clock(view[0]) + ' to ' + clock(view[1]);
    for (const button of tools.querySelectorAll('button')) button.setAttribute('aria-disabled', String(button.dataset.zoom === 'in' ? width <= leastS : isWhole));
    hide();
    for (const { plot } of figures) plot.setScale('x', { min: view[0], max: view[1] });
  }
  const steps = {
    in: (middle, width) => [middle - width / 4, middle + width / 4],
    out: (middle, width) => [middle - width, middle + width],
    earlier: (middle, width) => [middle - width, middle],
    later: (middle, width) => [middle, middle + width],
    whole: () => whole,
  };
  tools.addEventListener('click', ({ target }) => {
    const step = steps[target.dataset.zoom];
    if (!step || target.getAttribute('aria-disabled') === 'true') return;
    zoom(...step(target.dataset.zoom === 'in' && cursorS !== null ? cursorS : (view[0] + view[1]) / 2, view[1] - view[0]));
  });
  slider.addEventListener('input', () => show(view[0] + slider.value / 1000 * (view[1] - view[0])));
  tools.hidden = false;
  zoom(...whole);

  let isPaper = false;
  const fit = () => {
    for (const { plot, host } of figures) plot.setSize({ width: isPaper ? paperWidth : host.clientWidth, height: isPaper ? 150 : height });
  };
  const print = (isOn) => {
    isPaper = isOn;
    document.documentElement.classList.toggle('paper', isOn);
    hide();
    fit();
  };
  new ResizeObserver(fit).observe(figures[0].host);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => figures.forEach(({ plot }) => plot.redraw(false)));
  matchMedia('print').addEventListener('change', ({ matches }) => print(matches));
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));
})();
