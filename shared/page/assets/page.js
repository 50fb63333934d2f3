(() => {
'use strict';
// The page works without this script. The script asks for updates and writes them into the page. All
// texts come from the server, in the visitor's language, by the ids of their elements.
const TYPE = 'application/vnd.vestibule.page+json';
const root = document.documentElement, data = root.dataset;
const byId = id => document.getElementById(id);
// A request may take so long, and this much later than the first that fails people are told, in ms.
const TIME_OUT = 10000, PATIENCE = 3000;
let refresh = +data.refresh, failures = 0, asking = false, served = false;
const inside = byId('inside')?.content.textContent;
let timer, patience, live, opened, audio, proof = '', started = false;
const tickers = {}, ends = {};

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function reveal(element, shown) {
  (element.closest('[data-box]') || element).hidden = !shown;
}

// Moments are written in the visitor's own time zone.
function moment(element, seconds) {
  const when = new Date(seconds * 1000), clock = {hour: 'numeric', minute: '2-digit'};
  if (element.id === 'updated') clock.second = '2-digit';
  const today = when.toDateString() === new Date().toDateString();
  const day = today ? {} : {year: 'numeric', month: 'short', day: 'numeric'};
  element.dateTime = when.toISOString();
  write(element, when.toLocaleString(data.locale, {...clock, ...day}));
}

function two(number, digits) {
  return number.toLocaleString(data.locale, {minimumIntegerDigits: digits, useGrouping: false});
}

function tick(id, done) {
  const left = Math.max(0, Math.round((ends[id] - Date.now()) / 1000));
  const hours = Math.floor(left / 3600), minutes = Math.floor(left / 60) % 60;
  const clock = hours ? [two(hours, 1), two(minutes, 2)] : [two(minutes, 1)];
  write(byId(id), [...clock, two(left % 60, 2)].join(':'));
  if (left > 0) return;
  clearInterval(tickers[id]);
  done?.();
}

// Counts down in an element for so many seconds, or from what was told before if none are told now.
function countDown(id, seconds, counts, done) {
  if (seconds) ends[id] = Date.now() + seconds * 1000;
  if (!counts || ends[id] <= Date.now()) delete ends[id];
  clearInterval(tickers[id]);
  reveal(byId(id), ends[id]);
  if (!ends[id]) return;
  tickers[id] = setInterval(tick, 1000, id, done);
  tick(id, done);
}

// At the end of the hold the page asks what is next. At a start everyone would ask at once, so there
// it waits for its time to ask.
function countAll(hold, start) {
  countDown('hold', hold, data.state === 'turn', ask);
  countDown('countdown', start, start);
  root.toggleAttribute('data-counting', !!ends.countdown);
}

// How the page takes the turn: in front it enters by itself, unless the room has a button; in the
// background it has a seat held and calls.
const turn = () => 'automatic' in data && !document.hidden ? 'enter' : 'hold';

// Inside, the page leads on, if it has entered by itself.
function leadOn() {
  const go = byId('go');
  if (turn() !== 'enter' || !go.href || go.hidden) return;
  if (isHere(go)) location.reload();
  else location.replace(go.href);
}

// A link to this very address with its fragment only scrolls.
function isHere(go) {
  return !!location.hash && go.href.split('#')[0] === location.href.split('#')[0];
}

function show(update) {
  const begins = update.state === 'turn' && data.state !== 'turn';
  const changed = update.state !== data.state;
  const enters = update.state === 'inside' && data.state !== 'inside';
  data.state = update.state;
  served = update.served;
  document.title = update.texts.title;
  for (const id in update.languages) byId(id)?.setAttribute('lang', update.languages[id]);
  for (const id in update.texts) {
    const element = byId(id);
    if (!element || id === 'hold') continue;
    write(element, update.texts[id]);
    if (id !== 'alert' && id !== 'unreachable') reveal(element, update.texts[id]);
  }
  for (const id of ['starts', 'ends', 'updated']) {
    if (id in update.times) moment(byId(id), update.times[id]);
    if (id !== 'updated') reveal(byId(id), id in update.times);
  }
  byId('progress').value = update.progress || 0;
  if (update.wanted !== null) byId('go').href = update.wanted;
  // A fragment never comes to a server, so what it names is not in the address that was wanted.
  if (byId('go').href && !byId('go').hash) byId('go').hash = location.hash;
  countAll(update.hold_seconds, update.start_seconds);
  refresh = update.refresh_seconds;
  if (begins) call(update.texts);
  if (!refresh && live) live.close();
  if (enters) leadOn();
  proof = '';
  if (data.state === 'challenge') solve(update.puzzle);
  else start();
  return changed;
}

function later(seconds) {
  clearTimeout(timer);
  if (seconds > 0) timer = setTimeout(ask, seconds * 1000);
}

// Says that the waiting room cannot be reached, or takes that back.
function setUnreachable(is) {
  const element = byId('unreachable');
  element.hidden = !is || !element.textContent;
}

function reached() {
  failures = 0;
  clearTimeout(patience);
  patience = 0;
  setUnreachable(false);
}

async function ask() {
  if (asking || !refresh && !proof) return;
  asking = true;
  clearTimeout(timer);
  patience = patience || setTimeout(setUnreachable, PATIENCE, true);
  const begun = Date.now();
  const abort = new AbortController(), limit = setTimeout(() => abort.abort(), TIME_OUT);
  let next, answer;
  try {
    // Who counts down already need not be told again for how long.
    const shown = ends.hold > begun ? data.state : '';
    const shows = proof && `;challenge=${proof}`;
    const headers = {Accept: `${TYPE};turn=${turn()}${shows}`, 'Vestibule-Shown': shown};
    const asked = {headers, cache: 'no-store', redirect: 'manual', signal: abort.signal};
    answer = await fetch(location.href.split('#')[0], asked);
    if ((answer.headers.get('content-type') || '').startsWith(TYPE)) show(await answer.json());
    // The site itself has answered: the visitor is inside, by another tab.
    // Some of its answers are no success: to a media type that it does not know, or to GET where it wants POST.
    else if (inside && (answer.status < 500 && ![408, 425, 429].includes(answer.status))) show(JSON.parse(inside));
    else throw answer;
    reached();
    next = refresh && Math.max(refresh, .5);
  } catch (error) {
    // No update: the page keeps the time of the last one. Each failure doubles the pause, up to half
    // a minute or the usual pause; chance spreads the visitors.
    const pause = Math.max(2, refresh / 4) * 2 ** Math.min(failures++, 9);
    const least = +answer?.headers.get('retry-after') || 0;
    next = Math.max(Math.min(pause, Math.max(30, refresh)), least) * (.75 + Math.random() / 2);
  }
  clearTimeout(limit);
  asking = false;
  // In the background a timer may sleep for a minute. At the door it is the answer that takes its time.
  if (document.hidden && served && Date.now() - begun > 1000) return ask();
  later(next);
}

// Before the line: the browser solves a puzzle by itself, in a worker, and the page shows how far it is.
function solve(puzzle) {
  const solver = byId('solver'), bar = byId('progress');
  // A page that was made for another state has not all that it needs; of a widget there is one try a page.
  if (!puzzle || !solver) return byId('notice').textContent || location.reload();
  reveal(bar, true);
  bar.value = 0;
  const source = URL.createObjectURL(new Blob([solver.textContent], {type: 'text/javascript'}));
  const worker = new Worker(source);
  worker.onmessage = ({data: {done, number}}) => {
    if (done !== undefined) return bar.value = done;
    worker.terminate();
    URL.revokeObjectURL(source);
    bar.value = 1;
    const {algorithm, challenge, salt, signature} = puzzle;
    solved(btoa(JSON.stringify({algorithm, challenge, number, salt, signature}))
      .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''));
  };
  worker.postMessage(puzzle);
}

function solved(solution) {
  proof = solution;
  ask();
}

// What the widget of another provider calls.
window.vestibuleSolved = solved;

// Sound and notification: only if the visitor asked for them.
function call(texts) {
  if (isPressed(byId('sound'))) beep();
  if (!isPressed(byId('notify'))) return;
  try {
    new Notification(texts.title, {body: texts.alert, tag: 'vestibule'});
  } catch (error) { /* Some phones show none without a service worker. */ }
}

function beep() {
  [523, 659, 784].forEach((tone, index) => {
    const start = audio.currentTime + index * .22;
    const note = audio.createOscillator(), volume = audio.createGain();
    note.frequency.value = tone;
    volume.gain.setValueAtTime(.0001, start);
    volume.gain.exponentialRampToValueAtTime(.25, start + .03);
    volume.gain.exponentialRampToValueAtTime(.0001, start + .2);
    note.connect(volume).connect(audio.destination);
    note.start(start);
    note.stop(start + .21);
  });
}

function press(button, pressed) {
  button.setAttribute('aria-pressed', pressed);
}

const isPressed = button => button.getAttribute('aria-pressed') === 'true';

byId('go').addEventListener('click', event => {
  if (!isHere(event.currentTarget)) return;
  event.preventDefault();
  location.reload();
});
byId('tools').hidden = false;
byId('sound').hidden = !window.AudioContext;
byId('notify').hidden = !(window.Notification && window.isSecureContext);
byId('sound').onclick = event => {
  const button = event.currentTarget;
  press(button, !isPressed(button));
  if (!isPressed(button)) return;
  audio = audio || new AudioContext();
  audio.resume().then(beep);
};
byId('notify').onclick = async event => {
  const button = event.currentTarget;
  if (isPressed(button)) return press(button, false);
  press(button, await Notification.requestPermission() === 'granted');
};

// In the place of the page that was wanted: the language that was just chosen is remembered, and the
// address is that page's again.
if (data.wanted && location.search.includes('vestibule_lang=')) {
  const {pathname, search} = new URL(data.wanted, location);
  history.replaceState(null, '', location.origin + pathname + search);
}
for (const element of document.querySelectorAll('time[datetime]')) {
  const when = Date.parse(element.dateTime);
  if (when) moment(element, when / 1000);
}
countAll(data.hold, +data.start);
later(refresh && Math.max(refresh, .5));
if (data.puzzle) solve(JSON.parse(data.puzzle));
else start();

// From now on the page asks for updates.
function start() {
  if (started || !refresh) return;
  started = true;
  addEventListener('online', ask);
  addEventListener('offline', ask);
  addEventListener('pageshow', event => event.persisted && ask());
  document.addEventListener('visibilitychange', () => document.hidden || ask());
  if (data.live && window.EventSource) {
    // Updates come sooner this way. Polls go on: they prove that somebody is still here.
    live = new EventSource(data.live);
    // Whether it is the turn, only an answer says that was asked for by this very page.
    live.onmessage = event => {
      const update = JSON.parse(event.data);
      if (update.state === 'turn' || update.served || show(update)) ask();
    };
    // A stream that breaks after some seconds may mean that the service is gone; one that opens, that
    // it is back. Either way the page asks at once, spread over a moment.
    live.onopen = () => {
      opened = Date.now();
      if (failures) later(Math.random());
    };
    live.onerror = () => {
      if (Date.now() - opened > 5000) later(Math.random() * 1.5);
      opened = undefined;
    };
  }
}
})();
