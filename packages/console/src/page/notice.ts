import type { Operations } from '@automation-platform/client';
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { place } from './location.ts';
import { call } from './platform.ts';

type Banner = Operations['customization.getBanner']['answer']['result'];

/** Which banner the reader has dismissed: that which was changed at this moment. */
const storage = 'dismissed banner';
const dismissed = signal(sessionStorage.getItem(storage) ?? '');
const mark = ({ messageLastUpdated = '', text }: Banner): string => `${messageLastUpdated} ${text}`;

const longest = 2 ** 31 - 1;

/** When a banner is shown; `end` may be Infinity. */
const timesOf = ({ startTime, endTime }: Banner) => ({
  start: Date.parse(startTime),
  end: endTime === undefined ? Number.POSITIVE_INFINITY : Date.parse(endTime),
});

/** The share of light of a colour, as `rgb(…)` says it. */
const lightOf = (colour: string): number => {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  const linear = (value: number): number => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
};

/** Gives an element a colour of the banner, and letters that can be read on it. Anything else than a colour is left out. */
const paint = (element: HTMLElement | null, colour: string): void => {
  if (!element) return;
  const { style } = element;
  style.backgroundColor = '';
  style.color = '';
  if (!CSS.supports('background-color', colour)) return;
  style.backgroundColor = colour;
  const painted = getComputedStyle(element).backgroundColor;
  // A colour that lets something through has no contrast of its own.
  if (!painted.startsWith('rgb(')) style.backgroundColor = '';
  else style.color = lightOf(painted) > 0.179 ? '#000' : '#fff';
};

const imageOf = (image: string): string => (image.startsWith('data:') ? image : `data:image/png;base64,${image}`);

/** The banner of the platform, on the pages and in the time that it is for. */
export const Notice = () => {
  const loaded = useLoaded(async () => (await call('customization.getBanner')).body.result, [], {
    when: ({ resource }) => resource?.kind === 'banner',
    every: 60_000,
  });
  const [, again] = useState(0);
  const element = useRef<HTMLElement>(null);
  const banner = loaded.value;
  const now = Date.now();
  const { start, end } = banner ? timesOf(banner) : { start: 0, end: 0 };
  const next = [start, end].filter((time) => time > now);
  const wait = next.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...next) - now;
  const [page = 'now'] = place.value.path;
  const isShown =
    banner?.active === true &&
    now >= start &&
    now < end &&
    (banner.allPages || page === 'now') &&
    !(banner.dismissible && dismissed.value === mark(banner));
  useEffect(() => {
    if (!Number.isFinite(wait)) return;
    const timer = setTimeout(() => again(Date.now()), Math.min(wait + 1, longest));
    return () => clearTimeout(timer);
  }, [start, end, isShown]);
  const colour = banner?.backgroundColor ?? '';
  useEffect(() => paint(element.current, colour), [isShown, colour]);
  if (!banner || !isShown) return null;
  const dismiss = (): void => {
    dismissed.value = mark(banner);
    sessionStorage.setItem(storage, dismissed.value);
  };
  return html`<section ref=${element} class="notice" aria-label="Notice">
    ${banner.image && html`<img src=${imageOf(banner.image)} alt="" />`}
    <p class="words">${banner.text}</p>
    ${banner.dismissible && html`<button type="button" onClick=${dismiss}>Dismiss</button>`}
  </section>`;
};
