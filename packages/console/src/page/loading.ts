import { effect, type Signal, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { listen, type PlatformEvent } from './live.ts';
import { asOf } from './location.ts';
import { CallRefused, caller, refreshes } from './platform.ts';

export type Loaded<T> = {
  readonly value?: T;
  readonly error?: unknown;
  /** True until the question has an answer. An answer that events made stale is asked for again in silence. */
  readonly isLoading: boolean;
  /** Asks again. */
  readonly again: () => void;
};

type Options = {
  /** Asks again after an event for which this holds, once a second at most. */
  readonly when?: (event: PlatformEvent) => boolean;
  /** Asks again after this time, in milliseconds. */
  readonly every?: number;
  /** True if the answer is there at first, so that it is asked for later alone. */
  readonly isKnown?: boolean;
};

const leastMs = 1000;
/** When a value is asked for again that the platform could not give for a moment (503). */
const pauseMs = 2000;

/**
 * The answer of `load`, asked again when `by` changes, the moment of the page, or after events. The former answer stays
 * until the next one is there.
 */
export const useLoaded = <T>(load: () => Promise<T>, by: readonly unknown[], options: Options = {}): Loaded<T> => {
  const latest = useRef({ load, options });
  latest.current = { load, options };
  const { state, ask, stop } = useMemo(() => loader(() => latest.current), []);
  const isKnown = useRef(options.isKnown === true);
  const askAtFirst = (): void => {
    if (!isKnown.current) ask();
  };
  useEffect(askAtFirst, by);
  useEffect(() => {
    const ends = [
      effect(() => {
        // Each of these makes what is shown stale.
        void [asOf.value, refreshes.value, caller.value?.id];
        askAtFirst();
        isKnown.current = false;
      }),
      listen((event) => {
        if (latest.current.options.when?.(event)) ask(leastMs);
      }),
    ];
    const { every } = latest.current.options;
    const timer = every === undefined ? undefined : setInterval(() => !document.hidden && ask(leastMs), every);
    return () => {
      for (const end of ends) end();
      clearInterval(timer);
      stop();
    };
  }, []);
  return { ...state.value, again: ask };
};

const loader = <T>(latest: () => { readonly load: () => Promise<T> }) => {
  const state: Signal<Omit<Loaded<T>, 'again'>> = signal({ isLoading: true });
  let turn = 0;
  /** The turn whose answer is under way; 0: none. */
  let turnUnderWay = 0;
  let isDue = false;
  let last = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const run = async (): Promise<void> => {
    timer = undefined;
    last = Date.now();
    isDue = false;
    const mine = ++turn;
    turnUnderWay = mine;
    const load = async () => latest().load();
    const next = await load().then(
      (value) => ({ value, isLoading: false }),
      (error: unknown) => ({ ...state.peek(), error, isLoading: false }),
    );
    if (mine !== turn) return;
    turnUnderWay = 0;
    state.value = next;
    if ('error' in next && next.error instanceof CallRefused && next.error.status === 503) ask(pauseMs);
    // The platform answers such a question for half of the time at most.
    else if (isDue) ask(Math.max(leastMs, 2 * (Date.now() - last)));
  };

  const ask = (pause = 0): void => {
    if (pause === 0) {
      clearTimeout(timer);
      turn++;
      turnUnderWay = 0;
      if (!state.peek().isLoading) state.value = { ...state.peek(), isLoading: true };
      timer = setTimeout(run, 0);
    } else if (turnUnderWay !== 0 && timer === undefined) isDue = true;
    else timer ??= setTimeout(run, Math.max(50, last + pause - Date.now()));
  };

  return {
    state,
    /**
     * Asks soon; an answer under way is another question's, and is not shown. With `pause` the question is the same: an
     * answer under way is shown first, and it is asked again this time, in milliseconds, after it was asked.
     */
    ask,
    stop: (): void => {
      turn++;
      turnUnderWay = 0;
      clearTimeout(timer);
      timer = undefined;
    },
  };
};
