import { setTimeout as pause } from 'node:timers/promises';
import { withinTime } from '@automation-platform/client';
import { isObject, type Members, own } from '@automation-platform/json';
import { RequestError } from '../../domain/engine/requestError.ts';
import { unsoundIn } from '../../domain/engine/strictJson.ts';
import type { InventorySource } from '../../domain/inventory-manager/inventorySources.ts';
import { reasonOf } from '../failure.ts';
import { type HttpAnswer, httpCall } from '../httpCall.ts';
import type { Outbound } from '../outbound.ts';
import type { SourceNode, SourceNodes } from './port.ts';

/** A server to read. The token is in clear. */
export type DcimServer = {
  readonly type: 'netbox' | 'nautobot';
  readonly url: string;
  readonly token: string;
  readonly filters: NonNullable<InventorySource['filters']>;
};

type Reading = {
  readonly signal: AbortSignal;
  /** Called before each request. */
  readonly step: () => Promise<unknown>;
  /** Waits for this number of milliseconds, unless the signal aborts. */
  readonly rest?: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

const perPage = 500;
const pageBytes = 64 * 1024 * 1024;
const pageMs = 120_000;
const mostNodes = 200_000;
/** Answers that mean that the server has too much to do. */
const busy: readonly number[] = [429, 502, 503, 504];
const mostTries = 8;
const longestRestMs = 120_000;

const failed = (reason: string): never => {
  throw new RequestError('unprocessable', `The source could not be read, so nothing changes: ${reason}`);
};

/** How long to wait before another try, as the server says, else ever longer. */
const restOf = ({ headers }: HttpAnswer, tries: number): number => {
  const after = headers['retry-after'] ?? '';
  if (/^\d+$/.test(after)) return Number(after) * 1000;
  const until = Date.parse(after);
  const ms = until - Date.parse(headers.date ?? '');
  return Number.isNaN(ms) ? 500 * 2 ** tries : Math.max(0, ms);
};

type Page = { readonly count: number; readonly next: string | null; readonly results: readonly unknown[] };

const pageIn = ({ text }: HttpAnswer): Page => {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return failed('an answer is no JSON');
  }
  const fault = unsoundIn(text);
  if (fault !== undefined) return failed(`an answer cannot be stored: ${fault}`);
  const { count, next, results } = isObject(body) ? (body as Partial<Page>) : {};
  if (typeof count !== 'number' || !(typeof next === 'string' || next === null) || !Array.isArray(results))
    return failed('an answer is no page of devices');
  return { count, next, results };
};

const firstUrl = ({ type, url, filters }: DcimServer): URL => {
  const first = new URL(`${url.replace(/\/+$/, '')}/api/dcim/devices/`);
  for (const [name, value] of Object.entries(filters))
    for (const one of Array.isArray(value) ? value : [value]) first.searchParams.append(name, String(one));
  first.searchParams.set('limit', String(perPage));
  first.searchParams.set('offset', '0');
  // Without it, what belongs to a device is named by its id alone.
  if (type === 'nautobot') first.searchParams.set('depth', '1');
  return first;
};

const textIn = (value: unknown, ...members: readonly string[]): string | undefined => {
  if (typeof value === 'string') return value || undefined;
  if (!isObject(value)) return undefined;
  return members
    .map((member) => own(value, member))
    .find((one): one is string => typeof one === 'string' && one !== '');
};

/** The node of a device; undefined for one without a name. */
const nodeOf = (device: Members): SourceNode | undefined => {
  const name = textIn(own(device, 'name'));
  if (name === undefined) return undefined;
  const { custom_fields: fields, tags } = device;
  const address = ['primary_ip', 'primary_ip4', 'primary_ip6']
    .map((member) => textIn(own(device, member), 'address', 'display'))
    .find((one) => one !== undefined);
  const facts = {
    host: address?.replace(/\/\d+$/, ''),
    platform: textIn(own(device, 'platform'), 'slug', 'network_driver', 'name'),
    site: textIn(own(device, 'site') ?? own(device, 'location'), 'slug', 'name'),
    role: textIn(own(device, 'role') ?? own(device, 'device_role'), 'slug', 'name'),
    status: textIn(own(device, 'status'), 'value', 'name'),
  };
  const all = [...Object.entries(isObject(fields) ? fields : {}), ...Object.entries(facts)];
  return {
    name,
    attributes: Object.fromEntries(all.filter(([, value]) => value !== null && value !== undefined && value !== '')),
    tags: (Array.isArray(tags) ? tags : []).flatMap((tag) => textIn(tag, 'slug', 'name') ?? []),
  };
};

/**
 * Reads all devices of a server, page by page. Throws `unprocessable`, and gives nothing, if one page cannot be had, or leads to
 * another origin or to where the reading was already. Aborts with the signal.
 */
export const dcimNodes = async (
  server: DcimServer,
  guard: Outbound,
  { signal, step, rest = (ms, ending) => pause(ms, undefined, { signal: ending }) }: Reading,
): Promise<SourceNodes> => {
  const first = firstUrl(server);
  const ask = async (url: string): Promise<HttpAnswer> => {
    const headers = { Authorization: `Token ${server.token}` };
    try {
      return await withinTime(pageMs, [signal], (ending) =>
        httpCall(guard, { method: 'GET', url, headers, signal: ending, maxBytes: pageBytes }),
      );
    } catch (error) {
      signal.throwIfAborted();
      return failed(reasonOf(error));
    }
  };
  const pageAt = async (url: string): Promise<Page> => {
    for (let tries = 0; ; tries++) {
      await step();
      const answer = await ask(url);
      if (answer.status === 200) return pageIn(answer);
      const ms = restOf(answer, tries);
      if (!busy.includes(answer.status) || tries === mostTries || ms > longestRestMs)
        return failed(`the server answers with status ${answer.status}`);
      await rest(ms, signal);
    }
  };

  const nodes: SourceNode[] = [];
  const leftOut: string[] = [];
  const pagesRead = new Set<string>();
  let count = 0;
  let read = 0;
  for (let next: string | null = first.href; next !== null; ) {
    if (pagesRead.has(next)) return failed('its pages lead back to an earlier one');
    pagesRead.add(next);
    const page: Page = await pageAt(next);
    read += page.results.length;
    count = page.count;
    if (read > mostNodes) return failed(`it has more than ${mostNodes} devices`);
    if (page.results.length === 0 && page.next !== null) return failed('a page is empty, and another one follows');
    for (const device of page.results) {
      if (!isObject(device)) return failed('a device is no object');
      const node = nodeOf(device);
      if (node) nodes.push(node);
      else leftOut.push(textIn(own(device, 'display')) ?? String(own(device, 'id')));
    }
    if (
      page.next !== null &&
      (!URL.canParse(page.next, first.href) || new URL(page.next, first).origin !== first.origin)
    )
      return failed(`a page leads to another server than ${first.origin}`);
    next = page.next === null ? null : new URL(page.next, first).href;
  }
  if (read < count) return failed(`it has ${count} devices, and gave ${read}`);
  return { nodes, leftOut };
};
