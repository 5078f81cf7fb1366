import { useEffect, useState } from 'preact/hooks';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { asOf, momentTime, setQuery } from './location.ts';
import { call, may } from './platform.ts';

const monthMs = 30 * 86_400_000;

/** Since when there is something to look at: an account was made when the log began. Undefined if nobody says it. */
const beginning = async (): Promise<number | undefined> => {
  if (!may('authorization.getAccounts')) return undefined;
  const { body } = await call('authorization.getAccounts', { query: { limit: 100 } });
  const times = body.results.map(({ created = '' }) => Date.parse(created)).filter((time) => !Number.isNaN(time));
  return times.length > 0 ? Math.min(...times) : undefined;
};

const pauseMs = 300;

/** The slider of the moment that the page shows. */
export const AsOf = () => {
  const [isUsed, setUsed] = useState(false);
  const first = useLoaded(async () => (isUsed || asOf.value !== undefined ? beginning() : undefined), [isUsed]);
  const moment = asOf.value;
  const [typed, setTyped] = useState<number>();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (typed === undefined) return;
    const timer = setTimeout(() => {
      setTyped(undefined);
      setQuery({ asOf: typed >= now ? undefined : new Date(typed).toISOString() }, true);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [typed]);
  const value = typed ?? momentTime.value ?? now;
  const isPast = moment !== undefined || (typed !== undefined && typed < now);
  const time = new Date(value).toLocaleString('sv');
  const text = moment !== undefined && /^\d+$/.test(moment) && typed === undefined ? `position ${moment}` : time;
  const back = (): void => {
    setNow(Date.now());
    setQuery({ asOf: undefined }, true);
  };
  return html`<span class="asof" data-past=${isPast}>
    <label>As of <input type="range" min=${Math.min(first.value ?? now - monthMs, now - 1000)} max=${now} step="1000" value=${value}
      onFocus=${() => setUsed(true)} onPointerEnter=${() => setUsed(true)} aria-valuetext=${isPast ? text : 'now'}
      onInput=${(event: { readonly currentTarget: HTMLInputElement }) => setTyped(Number(event.currentTarget.value))} /></label>
    ${isPast && html`<output>${text}</output>`}
    <button type="button" disabled=${!isPast} onClick=${back}>Now</button>
  </span>`;
};
