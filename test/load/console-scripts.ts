// Scripts that the console bench puts into a page before its own. They watch; the page does not know of them. Times are ms.

/** Notes when each first stands in the page, since its navigation began: `window.seen[name]`. @param selectors by name. */
export const seenScript = (selectors: Readonly<Record<string, string>>): string => `
  globalThis.seen = {};
  const wanted = ${JSON.stringify(selectors)};
  const look = () => {
    for (const [name, selector] of Object.entries(wanted))
      if (globalThis.seen[name] === undefined && document.querySelector(selector) !== null)
        globalThis.seen[name] = performance.now();
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ['data-is-drawn'] });
`;

/** Counts frames: `window.frames()`. */
export const frameScript = `
  let frameCount = 0;
  const countFrame = () => { frameCount += 1; requestAnimationFrame(countFrame); };
  requestAnimationFrame(countFrame);
  globalThis.frameCount = () => frameCount;
`;

/** `window.awaitText(selector, begin)` gives the time, ms since 1970, at which such an element first has a text that begins so. */
export const textScript = `
  globalThis.awaitText = (selector, begin) => new Promise((resolve) => {
    const isThere = () => [...document.querySelectorAll(selector)].some((one) => one.textContent.trim().startsWith(begin));
    const end = () => { watcher.disconnect(); resolve(performance.timeOrigin + performance.now()); };
    const watcher = new MutationObserver(() => { if (isThere()) end(); });
    watcher.observe(document.body, { childList: true, subtree: true, characterData: true });
    if (isThere()) end();
  });
`;

/**
 * `window.keyTimes`: from each key of a text to the next drawing after the list first changed. `window.keyEvents`: of each key until the
 * browser had drawn its effect (Event Timing), from 16 ms on. @param list selector of the list.
 */
export const keyScript = (list: string): string => `
  globalThis.keyTimes = [];
  globalThis.keyEvents = [];
  let pressedMs = null;
  addEventListener('keydown', ({ key, timeStamp }) => { if (key.length === 1) pressedMs = timeStamp; }, true);
  new MutationObserver((changes) => {
    if (pressedMs === null || !changes.some(({ target }) => (target.nodeType === 1 ? target : target.parentElement)?.closest(${JSON.stringify(list)}) != null)) return;
    const beganMs = pressedMs;
    pressedMs = null;
    requestAnimationFrame(() => setTimeout(() => globalThis.keyTimes.push(performance.now() - beganMs)));
  }).observe(document, { childList: true, subtree: true, characterData: true });
  new PerformanceObserver((entries) => {
    for (const { interactionId, duration } of entries.getEntries())
      if (interactionId > 0) globalThis.keyEvents.push(duration);
  }).observe({ type: 'event', durationThreshold: 16, buffered: true });
`;
