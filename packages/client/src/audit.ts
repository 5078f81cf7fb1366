import { objectIn, refusalIn, textOf } from './answers.ts';
import { Refused } from './refused.ts';
import { type Platform, send } from './request.ts';

/** Which events are wanted. `since` and `until` are positions or times (RFC 3339), both included. */
export type AuditSearch = {
  /** Id of an account. */
  readonly actor?: string;
  /** `<kind>/<id>`. */
  readonly resource?: string;
  readonly source?: string;
  readonly topic?: string;
  readonly operation?: string;
  readonly requestId?: string;
  readonly correlation?: string;
  readonly since?: string | number;
  readonly until?: string | number;
};

/** An event as audits show it. Members that an event of another program lacks are null. */
export type AuditEvent<Data = unknown> = {
  readonly id: string;
  readonly position: number;
  readonly source: string;
  readonly topic: string;
  readonly at: string | null;
  readonly actor: { readonly id: string; readonly username: string; readonly provenance: string } | null;
  readonly resource: { readonly kind: string; readonly id: string } | null;
  readonly revision: number;
  readonly correlation: string | null;
  readonly causation: string | null;
  readonly operation: string | null;
  readonly requestId: string | null;
  readonly data: Data;
};

/** One operation of a JSON Patch (RFC 6902). */
export type PatchOperation = {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: string;
  readonly value?: unknown;
};

export type AuditHistoryEntry = Omit<AuditEvent, 'data'> & { readonly patch: readonly PatchOperation[] };

export type AuditTrace = AuditEvent & { readonly children: readonly AuditTrace[] };

/** Requests that were refused, counted for some seconds. */
export type AuditDenial = {
  readonly account: string | null;
  readonly address: string | null;
  readonly operation: string | null;
  readonly code: string | null;
  readonly count: number;
  readonly first: string;
  readonly last: string;
};

/** The platform refuses the question, or cannot answer it. */
export class AuditRefused extends Refused {
  override readonly name = 'AuditRefused';
}

/** `ifMatch` is the ETag of the resource: the restore is refused if it has changed since. */
export type RestoreAsked = {
  readonly kind: string;
  readonly id: string;
  readonly position: number;
  readonly dryRun?: boolean;
  readonly ifMatch?: string;
};

export type Restored = {
  readonly status: string;
  readonly message: string;
  readonly data: unknown;
  readonly patch: readonly PatchOperation[];
};

/** The body and the further headers of a request. */
type Sent = { readonly body: unknown; readonly headers: Readonly<Record<string, string>> };

type Query = Readonly<Record<string, string | number | null | undefined>>;
type Page<T> = { readonly results: readonly T[]; readonly cursor: string | null };

const pageLength = 500;

const noAnswer = (): AuditRefused => new AuditRefused('The platform answers what is no answer to this', 200);

/**
 * Asks the platform who did what (docs/audit.md). Lists are read page by page as they are used, the newest first. Throws
 * `AuditRefused` if the platform does not answer with 200.
 */
export const audit = (platform: Platform) => {
  const ask = async <T>(path: string, query: Query = {}, request?: Sent): Promise<T> => {
    const answer = await send(platform, {
      method: request ? 'POST' : 'GET',
      path: `/audit/${path}`,
      query,
      ...request,
    });
    if (answer.status !== 200) throw new AuditRefused(await refusalIn(answer), answer.status);
    const found = objectIn(await textOf(answer));
    if (!found) throw noAnswer();
    return found as T;
  };

  async function* pages<T>(path: string, query: Query = {}): AsyncGenerator<T, void, undefined> {
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page: Page<T> = await ask(path, { limit: pageLength, ...query, cursor });
      // The same place again would come for ever.
      if (!Array.isArray(page.results) || page.cursor === cursor) throw noAnswer();
      yield* page.results;
      ({ cursor } = page);
    }
  }

  return {
    /** The events that are wanted and that the account may see. */
    events: (search: AuditSearch = {}): AsyncGenerator<AuditEvent, void, undefined> => pages('events', search),
    /** The history of a resource, with the changes of each event. */
    resource: (kind: string, id: string): AsyncGenerator<AuditHistoryEntry, void, undefined> =>
      pages(`resources/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`),
    /** How a resource (`<kind>/<id>`) differs between two moments: positions or times. */
    diff: (
      resource: string,
      from: string | number,
      to: string | number,
    ): Promise<{ readonly from: number; readonly to: number; readonly patch: readonly PatchOperation[] }> =>
      ask('diff', { resource, from, to }),
    /** The consequences of a request, as trees. */
    trace: async (correlation: string): Promise<readonly AuditTrace[]> => {
      const { results } = await ask<{ readonly results: readonly AuditTrace[] }>(
        `trace/${encodeURIComponent(correlation)}`,
      );
      return results;
    },
    /** Restores a resource as it was at a position of the log. With `dryRun` nothing is stored. */
    restore: ({ ifMatch, ...asked }: RestoreAsked): Promise<Restored> =>
      ask('restore', {}, { body: asked, headers: ifMatch === undefined ? {} : { 'If-Match': ifMatch } }),
    /** Requests that were refused. */
    denied: (between: Pick<AuditSearch, 'since' | 'until'> = {}): AsyncGenerator<AuditDenial, void, undefined> =>
      pages('denied', between),
  };
};
