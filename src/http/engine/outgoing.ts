import type { ServerResponse } from 'node:http';
import type { Resource } from '../../domain/engine/resource.ts';

/** An answer ready to be sent. `position` and `replayed` are set by changes. */
export type Outgoing = {
  readonly status?: number | undefined;
  readonly body: string | Buffer | undefined;
  readonly type?: string | undefined;
  readonly etag?: string | undefined;
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly position?: number | undefined;
  readonly replayed?: boolean | undefined;
  /** The resource of which the body is an export. */
  readonly exported?: Resource | undefined;
  /** The resources whose secrets the body has in clear. */
  readonly inClear?: readonly Resource[] | undefined;
  /** Sends the body bit by bit, over an answer whose head is written. It ends the answer itself. */
  readonly stream?: ((res: ServerResponse) => void) | undefined;
};
