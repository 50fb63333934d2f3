(() => {
'use strict';
// The page is whole without this script. It asks for news and puts them where they belong: texts
// come from the server, in the visitor's language, by the ids of their elements.
const TYPE = 'application/vnd.vestibule.page+json';
const root = document.documentElement, data = root.dataset;
const byId = id => document.getElementById(id);
let refresh = +data.refresh, failures = 0, asking = false;
const inside = byId('inside')?.content.textContent;
let timer, ticker, heldUntil, live, audio;

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

function tick() {
  const left = Math.max(0, Math.round((heldUntil - Date.now()) / 1000));
  const hours = Math.floor(left / 3600), minutes = Math.floor(left / 60) % 60;
  const clock = hours ? [two(hours, 1), two(minutes, 2)] : [two(minutes, 1)];
  write(byId('hold'), [...clock, two(left % 60, 2)].join(':'));
  if (left > 0) return;
  clearInterval(ticker);
  ask();
}

// Counts down from what was told once; without a time nothing is counted.
function hold(seconds, turn) {
  if (seconds) heldUntil = Date.now() + seconds * 1000;
  if (!turn || heldUntil <= Date.now()) heldUntil = undefined;
  clearInterval(ticker);
  reveal(byId('hold'), heldUntil);
  if (!heldUntil) return;
  ticker = setInterval(tick, 1000);
  tick();
}

function show(news) {
  const begins = news.state === 'turn' && data.state !== 'turn';
  const changed = news.state !== data.state;
  data.state = news.state;
  document.title = news.texts.title;
  for (const id in news.texts) {
    const element = byId(id);
    if (!element || id === 'hold') continue;
    write(element, news.texts[id]);
    if (id !== 'alert') reveal(element, news.texts[id]);
  }
  for (const id of ['starts', 'ends', 'updated']) {
    if (id in news.times) moment(byId(id), news.times[id]);
    reveal(byId(id), id in news.times);
  }
  byId('progress').value = news.progress || 0;
  if (news.wanted !== null) byId('go').href = news.wanted;
  hold(news.hold_seconds, news.state === 'turn');
  refresh = news.refresh_seconds;
  if (begins) call(news.texts);
  if (!refresh && live) live.close();
  return changed;
}

function later(seconds) {
  clearTimeout(timer);
  if (seconds > 0) timer = setTimeout(ask, seconds * 1000);
}

async function ask() {
  if (asking) return;
  asking = true;
  clearTimeout(timer);
  let next;
  try {
    // Who counts down already need not be told again for how long.
    const headers = {Accept: TYPE, 'Vestibule-Shown': heldUntil > Date.now() ? data.state : ''};
    const asked = {headers, cache: 'no-store', redirect: 'manual'};
    const answer = await fetch(location.href.split('#')[0], asked);
    if ((answer.headers.get('content-type') || '').startsWith(TYPE)) show(await answer.json());
    // The site itself has answered: the visitor is inside, by another tab.
    else if (inside && (answer.ok || answer.type === 'opaqueredirect')) show(JSON.parse(inside));
    else throw answer;
    failures = 0;
    next = refresh && Math.max(refresh, .5);
  } catch (error) {
    // Not reached, or no news: the moment of the last ones stays where it is, so nothing is pretended.
    next = Math.min(60, Math.max(refresh, 2) * 2 ** failures++) * (.75 + Math.random() / 2);
  }
  asking = false;
  later(next);
}

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
if (data.state === 'turn') hold(data.hold, true);
if (refresh) {
  later(Math.max(refresh, .5));
  addEventListener('online', ask);
  addEventListener('pageshow', event => event.persisted && ask());
  document.addEventListener('visibilitychange', () => document.hidden || ask());
  if (data.live && window.EventSource) {
    // News come sooner this way. Polls go on: they are what proves that somebody is still here.
    live = new EventSource(data.live);
    live.onmessage = event => show(JSON.parse(event.data)) && ask();
  }
}
})();
