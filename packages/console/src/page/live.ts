import { type PlatformEvent, subscribe } from '@automation-platform/client';
import { effect, signal } from '@preact/signals';
import { askForRights, caller, hasEnded, isNow, may, refresh, url } from './platform.ts';

export type { PlatformEvent };

/** Events that may change rights. */
export const isOfPeople = ({ resource }: Pick<PlatformEvent, 'resource'>): boolean =>
  /account|group|role|token|mapping|provider/i.test(resource?.kind ?? '');

type Listener = (event: PlatformEvent) => void;
const listeners = new Set<Listener>();

/** Calls the function with each event of the platform that the caller may see. Returns the function that ends this. */
export const listen = (listener: Listener): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** `off`: earlier moments are not live; `refused`: the caller may not read events. */
export const liveness = signal<'off' | 'connecting' | 'live' | 'refused'>('off');
/** How many events came when the connection was there again after it was lost. */
export const missed = signal(0);

const follow = async (signal: AbortSignal): Promise<void> => {
  let lostAt: number | undefined;
  const onState = (isOpen: boolean): void => {
    if (signal.aborted) return;
    if (!isOpen && liveness.value === 'live') lostAt = Date.now();
    liveness.value = isOpen ? 'live' : 'connecting';
    if (isOpen && lostAt !== undefined) refresh();
  };
  try {
    for await (const event of subscribe({ url, signal, onState })) {
      if (lostAt !== undefined) {
        if (Date.parse(event.at) < Date.now() - 2000) missed.value++;
        else lostAt = undefined;
      }
      for (const listener of listeners) listener(event);
    }
  } catch {
    if (signal.aborted) return;
    liveness.value = 'refused';
    await askForRights();
  }
};

const isVisible = signal(!document.hidden);

/**
 * Follows the events while an account is logged in, and the page is visible and shows what is now: a browser has six
 * connections to a host, for all its tabs.
 */
export const startLive = (): void => {
  let end: AbortController | undefined;
  document.addEventListener('visibilitychange', () => {
    isVisible.value = !document.hidden;
    if (isVisible.value) refresh();
  });
  effect(() => {
    const isOn = isVisible.value && caller.value && !hasEnded.value && isNow.value;
    end?.abort();
    end = undefined;
    missed.value = 0;
    if (!isOn) {
      liveness.value = 'off';
    } else if (!may('operations-manager.streamEvents')) {
      liveness.value = 'refused';
    } else {
      liveness.value = 'connecting';
      end = new AbortController();
      void follow(end.signal);
    }
  });
};
