import { html } from './html.ts';
import { Time } from './parts.ts';

export type Instant = { readonly at: number; readonly state: 'settled' | 'missed' | 'next' };

const height = 64;
/** The axis in percents of the width. */
const [start, end] = [2, 98];
const ticks = 4;

/** The state of an instant, as people say it. */
export const wordOf = (state: Instant['state']): string => (state === 'next' ? 'to come' : state);
const states = ['settled', 'missed', 'next'] as const;

const stepWords = (at: number, span: number): string => {
  const [, day = '', clock = ''] = /^\d+-(\S+) (\S+)/.exec(new Date(at).toLocaleString('sv')) ?? [];
  if (span < 86_400_000) return clock;
  return span > 14 * 86_400_000 ? day : `${day} ${clock.slice(0, 5)}`;
};

/** The instants of a schedule on an axis of time, with the present. The table below it says the same in words. */
export const Axis = ({ instants }: { readonly instants: readonly Instant[] }) => {
  const now = Date.now();
  const times = [...instants.map(({ at }) => at), now];
  const first = Math.min(...times);
  const span = Math.max(1, Math.max(...times) - first);
  const x = (at: number): string => `${(start + ((at - first) / span) * (end - start)).toFixed(2)}%`;
  const counts = states
    .map((state) => `${instants.filter((one) => one.state === state).length} ${wordOf(state)}`)
    .join(', ');
  return html`<figure class="axis">
    <svg height=${height} role="img" aria-label=${`Instants on an axis of time: ${counts}`}>
      <line class="line" x1=${`${start}%`} x2=${`${end}%`} y1="28" y2="28" />
      ${Array.from({ length: ticks + 1 }, (_, i) => first + (span * i) / ticks).map(
        (at) =>
          html`<g key=${at}><line class="tick" x1=${x(at)} x2=${x(at)} y1="24" y2="32" /><text x=${x(at)} y="52">${stepWords(at, span)}</text></g>`,
      )}
      <line class="present" x1=${x(now)} x2=${x(now)} y1="8" y2="40" />
      ${instants.map(({ at, state }) => html`<circle key=${at} class=${state} cx=${x(at)} cy="28" r="5"><title>${wordOf(state)}: ${new Date(at).toLocaleString('sv')}</title></circle>`)}
    </svg>
    <figcaption class="legend"><span class="settled">settled</span><span class="missed">missed</span><span class="next">to come</span><span class="present">now, <${Time} at=${now} /></span></figcaption>
  </figure>`;
};
