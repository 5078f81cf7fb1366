import { objectIn, refusalIn, TooLong } from './answers.ts';
import { type Auth, loginHeaders } from './auth.ts';
import { frameReader } from './frames.ts';
import { pause } from './pause.ts';

export type Subscription = {
  /** The platform, such as `https://platform.example.net`. */
  readonly url: string;
  /** Left out in a page of the platform: its cookie logs it in. */
  readonly auth?: Auth | undefined;
  /** Only events of this source, such as `@platform/operations-manager`. */
  readonly source?: string | undefined;
  /** Only events of this topic, such as `jobCompleted`. */
  readonly topic?: string | undefined;
  /** Only events of this kind of resource (`job`), or of this resource (`job/65f0...`). */
  readonly resource?: string | undefined;
  /** The position after which to begin, or `start`, or `now`, which it is unless given. */
  readonly from?: 'start' | 'now' | number | undefined;
  /** Ends the subscription, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Called with true when a connection is there, and with false when it is not there any more. */
  readonly onState?: ((isOpen: boolean) => void) | undefined;
};

/** An event of the platform, with secrets masked. */
export type PlatformEvent<Data = unknown> = {
  readonly id: string;
  /** Its place in the log. A program that has seen it goes on with `from: position`. */
  readonly position: number;
  readonly source: string;
  readonly topic: string;
  /** When it happened: UTC, ISO 8601. */
  readonly at: string;
  /** Null for an event that another program has written to the log. */
  readonly actor: { readonly id: string; readonly username: string; readonly provenance: string } | null;
  /** Null for an event that another program has written to the log. */
  readonly resource: { readonly kind: string; readonly id: string } | null;
  readonly revision: number;
  readonly correlation: string;
  readonly causation: string;
  /** The data of the topic (`/asyncapi.json` of the platform has the schemas). */
  readonly data: Data;
};

/** The platform refuses the subscription, or will not go on with it. To try again is of no use. */
export class EventStreamEnded extends Error {
  /** The status of the answer; undefined if the stream itself was ended. */
  readonly status: number | undefined;
  constructor(message: string, status?: number) {
    super(message);
    this.name = 'EventStreamEnded';
    this.status = status;
  }
}

// The platform sends something every 15 s. A connection without a sign of life for this long is dead.
const silenceMs = 60_000;
const shortestPauseMs = 100;
const longestPauseMs = 5000;

/** Where the subscription stands. */
type State = { from: string; hasProgressed: boolean };

/**
 * The events of the platform that the account may see, in the order of the log, each once. It connects again by itself
 * and goes on where it was. Throws `EventStreamEnded` if the platform refuses (400, 401, 403 and the like), and when the
 * account loses its rights.
 */
export async function* subscribe(subscription: Subscription): AsyncGenerator<PlatformEvent, void, undefined> {
  const { from = 'now', signal } = subscription;
  const state: State = { from: String(from), hasProgressed: false };
  for (let wait = 0; !signal?.aborted; ) {
    state.hasProgressed = false;
    yield* connection(subscription, state);
    wait = state.hasProgressed ? 0 : Math.min(Math.max(wait * 2, shortestPauseMs), longestPauseMs);
    // Clients that lost the same platform must not come back all at once.
    await pause(wait * (0.5 + Math.random() / 2), signal);
  }
}

/** The events of one connection. It ends when the connection does. */
async function* connection(subscription: Subscription, state: State): AsyncGenerator<PlatformEvent, void, undefined> {
  const closing = new AbortController();
  const close = (): void => closing.abort();
  subscription.signal?.addEventListener('abort', close);
  let silence = setTimeout(close, silenceMs);
  try {
    const body = await opened(subscription, state.from, closing.signal);
    if (!body) return;
    subscription.onState?.(true);
    const read = frameReader();
    const decoder = new TextDecoder();
    for await (const bytes of piecesOf(body)) {
      clearTimeout(silence);
      silence = setTimeout(close, silenceMs);
      for (const { event, data, comment } of read(decoder.decode(bytes, { stream: true }))) {
        if (comment !== undefined) passed(state, comment);
        if (data === undefined) continue;
        const message = objectIn(data);
        if (event === 'dropped') {
          if (message?.reason === 'rights')
            throw new EventStreamEnded('The account may no longer read events of the platform');
          return;
        }
        if (!message || !isEvent(message)) throw new EventStreamEnded('The platform sends what is no event');
        // The position counts as soon as the event is given out: it is given out once.
        if (passed(state, String(message.position))) yield message;
        if (closing.signal.aborted) return;
      }
    }
  } catch (error) {
    throw error instanceof TooLong ? new EventStreamEnded(error.message) : error;
  } finally {
    clearTimeout(silence);
    subscription.onState?.(false);
    subscription.signal?.removeEventListener('abort', close);
    close();
  }
}

/** Notes a position. False if the subscription was there already. */
const passed = (state: State, position: string): boolean => {
  if (!/^\d+$/.test(position)) return false;
  if (/^\d+$/.test(state.from) && Number(position) <= Number(state.from)) return false;
  state.from = position;
  state.hasProgressed = true;
  return true;
};

/** True if it has what each event has. The data of a topic are not looked at. */
const isEvent = (message: Readonly<Record<string, unknown>>): message is PlatformEvent => {
  const { position, id, source, topic, actor, resource } = message;
  return (
    Number.isSafeInteger(position) &&
    [id, source, topic].every((text) => typeof text === 'string') &&
    [actor, resource].every((one) => typeof one === 'object')
  );
};

/** The pieces of the body, until the connection ends, however it does. */
async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || !value) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Statuses after which the same request may succeed later. */
const passing = new Set([408, 425, 429]);

/** The body of the answer; undefined if there is none now. */
const opened = async (
  { url, auth, source, topic, resource }: Subscription,
  from: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array> | undefined> => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ source, topic, resource, from }))
    if (value !== undefined) query.set(name, value);
  const address = `${url.replace(/\/+$/, '')}/operations-manager/events/stream?${query}`;
  const headers = { Accept: 'text/event-stream', ...loginHeaders(auth) };
  // A URL that is none throws here. Browsers give a failure of the network the same class.
  const request = new Request(address, { headers, signal });
  const answer = await fetch(request).catch(() => undefined);
  if (!answer) return undefined;
  const { status } = answer;
  if (status === 200 && answer.body) return answer.body;
  const message = await refusalIn(answer);
  if (status >= 400 && status < 500 && !passing.has(status)) throw new EventStreamEnded(message, status);
  return undefined;
};
