import { useEffect, useRef } from 'preact/hooks';
import Plot from 'uplot';
import { html } from './html.ts';

/** A value of a day, which is written as `2026-11-26`. */
export type Point = { readonly date: string; readonly value: number };

type Props = {
  /** The name of the values, such as `Score`. */
  readonly label: string;
  /** By date, the earliest first. */
  readonly points: readonly Point[];
  readonly most: number;
};

const height = 160;
const day = 86_400;

const colour = (name: string) => (): string => getComputedStyle(document.documentElement).getPropertyValue(name);

const axis = (size: number): Plot.Axis => ({
  size,
  stroke: colour('--quiet'),
  grid: { stroke: colour('--line'), width: 1 },
  ticks: { show: false },
});

const draw = (place: HTMLElement, { label, points, most }: Props): Plot => {
  const days = points.map(({ date }) => Date.parse(date) / 1000);
  const [first = 0, last = first] = [days[0], days.at(-1)];
  const span: [number, number] = [Math.min(first, last - 6 * day) - day / 2, last + day / 2];
  return new Plot(
    {
      width: place.clientWidth,
      height,
      tzDate: (seconds) => Plot.tzDate(new Date(seconds * 1000), 'UTC'),
      scales: { x: { range: () => span }, y: { range: [0, most] } },
      axes: [{ ...axis(30), values: dayWords, incrs: [1, 7, 30, 90].map((count) => count * day) }, axis(40)],
      series: [{}, { label, stroke: colour('--accent'), width: 2, points: { size: 6, fill: colour('--card') } }],
      legend: { show: false },
      cursor: { show: false },
    },
    [days, points.map(({ value }) => value)],
    place,
  );
};

const dayWords = (_: Plot, seconds: readonly number[]): string[] =>
  seconds.map((at) => new Date(at * 1000).toISOString().slice(5, 10));

/** A curve over days. Its name says where it begins and ends, and its lowest value. */
export const Curve = (props: Props) => {
  const place = useRef<HTMLDivElement>(null);
  const { label, points } = props;
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const plot = draw(element, props);
    const size = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    size.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = (): void => plot.redraw();
    scheme.addEventListener('change', redraw);
    return () => {
      scheme.removeEventListener('change', redraw);
      size.disconnect();
      plot.destroy();
    };
  }, [JSON.stringify(props)]);
  const say = ({ date, value }: Point): string => `${value} on ${date}`;
  const lowest = [...points].sort((a, b) => a.value - b.value).slice(0, 1);
  const words = [...points.slice(0, 1), ...lowest, ...points.slice(-1)].map(say).join(', ');
  return html`<div class="curve" role="img" aria-label=${`${label}: first, lowest, last: ${words}`} ref=${place}></div>`;
};
