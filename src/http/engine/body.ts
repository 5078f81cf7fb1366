import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { checker } from '@automation-platform/bounded-schemas';
import { exactValue, isKept } from '@automation-platform/json';
import type { Context } from 'koa';
import { koaBody, HttpMethodEnum as Method } from 'koa-body';
import type { TSchema } from 'typebox';
import { RequestError } from '../../domain/engine/requestError.ts';
import { checkJson } from '../../domain/engine/strictJson.ts';
import type { Route } from './route.ts';

/** A request's JSON body and its text; `{}` and '' when the request had none. */
export type Body = { readonly value: unknown; readonly text: string };

// The service reads this much of a body that is too large. Its sender reads the answer only after it has sent the body.
const lingerBytes = 4 * 1024 * 1024;
const lingerMs = 1000;

/**
 * Makes the function that reads bodies of at most `maxBytes`, or `maxImportBytes` for `large` routes. Errors:
 * `too_large` (the connection closes after the answer); `unsupported_media` (not JSON in UTF-8, or with
 * Content-Encoding); `invalid` (not JSON, or refused by `checkJson`). In the member that `exact` names (`*`: in all),
 * integers may be beyond 2^53-1. A byte order mark is dropped. No error message repeats the body.
 */
export const bodyReader = ({
  maxBytes,
  maxImportBytes,
}: {
  readonly maxBytes: number;
  readonly maxImportBytes: number;
}) => {
  const form = { maxBytes, parse: formOf(maxBytes) };
  const small = { maxBytes, parse: jsonOf(maxBytes) };
  const big = { maxBytes: maxImportBytes, parse: jsonOf(maxImportBytes) };

  const read = async (ctx: Context, limits: typeof small, exact: string | undefined): Promise<Body> => {
    const { req } = ctx;
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    try {
      await limits.parse(ctx, nothingMore);
    } catch (error) {
      const { status, body } = error as { status?: number; body?: unknown };
      if (status === 413) throw await tooLarge(ctx, limits.maxBytes);
      if (status === 400) throw malformed(error as Error, body);
      throw error;
    }
    const text = ctx.request.rawBody ?? '';
    // Only bytes that are not UTF-8, or this character itself, are decoded as U+FFFD.
    if (text.includes('\ufffd') && !isUtf8(Buffer.concat(chunks)))
      throw new RequestError('invalid', 'The body is not valid UTF-8', { path: '' });
    if (text === '') return { value: {}, text };
    if (limits === form) return { value: formIn(text), text };
    checkJson(text, exact);
    return { value: ctx.request.body, text };
  };

  /** A request without body gets one at once: there is nothing to wait for. */
  return (
    ctx: Context,
    { large, exact, form: isForm }: Pick<Route, 'large' | 'exact' | 'form'>,
  ): Body | Promise<Body> => {
    const ofJson = large ? big : small;
    const limits = isForm && ctx.is(formType) ? form : ofJson;
    const { destroyed, headers } = ctx.req;
    // The connection may have broken while the login was checked, for example.
    if (destroyed) throw new RequestError('unavailable', 'The connection broke off before the body was read');
    const length = Number(headers['content-length'] ?? 0);
    if (length === 0 && headers['transfer-encoding'] === undefined) return { value: {}, text: '' };
    if (length > limits.maxBytes)
      return tooLarge(ctx, limits.maxBytes).then((error) => {
        throw error;
      });
    checkMedia(ctx, limits === form ? formType : jsonType);
    return read(ctx, limits, exact);
  };
};

/** The body's value, with one member exactly as it was written; `*` stands for all members. */
export const withExact = ({ value, text }: Body, member: string): unknown => {
  if (isKept(text)) return value;
  if (member === '*') return exactValue(text);
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, member)) return value;
  return { ...value, [member]: (exactValue(text) as Readonly<Record<string, unknown>>)[member] };
};

/** The members of a form. Throws `invalid` for a name that is there twice. */
const formIn = (text: string): Readonly<Record<string, string>> => {
  const members = new URLSearchParams(text);
  const twice = [...members.keys()].find((name) => members.getAll(name).length > 1);
  if (twice !== undefined)
    throw new RequestError('invalid', 'The form has this member twice', { path: `/${twice.slice(0, 100)}` });
  return Object.fromEntries(members);
};

const nothingMore = (): Promise<void> => Promise.resolve();

const jsonType = 'application/json';
const formType = 'application/x-www-form-urlencoded';

const jsonOf = (jsonLimit: number) =>
  koaBody({
    jsonLimit,
    jsonStrict: false,
    jsonTypes: [jsonType],
    urlencoded: false,
    text: false,
    multipart: false,
    includeUnparsed: true,
    parsedMethods: [Method.GET, Method.POST, Method.PUT, Method.PATCH, Method.DELETE],
  });

const formOf = (textLimit: number) =>
  koaBody({
    textLimit,
    textTypes: [formType],
    json: false,
    urlencoded: false,
    multipart: false,
    includeUnparsed: true,
    parsedMethods: [Method.POST],
  });

const checkMedia = (ctx: Context, type: string): void => {
  const { 'content-encoding': encoding = 'identity' } = ctx.req.headers;
  if (encoding.toLowerCase() !== 'identity') {
    ctx.set('Accept-Encoding', 'identity');
    throw new RequestError('unsupported_media', 'A body must be sent without Content-Encoding');
  }
  if (ctx.req.headers['content-type'] === type) return;
  if (!ctx.is(type) || !/^(utf-?8)?$/i.test(ctx.request.charset))
    throw new RequestError('unsupported_media', `A body must be ${type} in UTF-8`);
};

const tooLarge = async (ctx: Context, maxBytes: number): Promise<RequestError> => {
  ctx.set('Connection', 'close');
  await lingered(ctx.req);
  return new RequestError('too_large', `A body may have ${maxBytes} bytes here`);
};

const lingered = (req: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    let remaining = lingerBytes;
    const timer = setTimeout(resolve, lingerMs);
    const finish = () => {
      clearTimeout(timer);
      resolve();
    };
    req.on('data', (chunk: Buffer) => {
      remaining -= chunk.length;
      if (remaining < 0) finish();
    });
    req.once('end', finish).once('close', finish).resume();
  });

/** The error for a body that is not JSON. It leaves out the parser's message, because that message repeats the body. */
const malformed = (error: Error, text: unknown): RequestError => {
  if (typeof text === 'string' && error.message.includes('prototype')) {
    // koa-body refuses `__proto__` without its place; checkJson finds the place.
    try {
      checkJson(text);
    } catch (found) {
      if (found instanceof RequestError) return found;
    }
  }
  const position = /at position (\d+)/.exec(error.message)?.[1];
  return new RequestError(
    'invalid',
    `The body is not valid JSON${position === undefined ? '' : ` (at character ${position})`}`,
    { path: '' },
  );
};

/** Makes the function that checks a body by a schema; it throws `invalid` with all faults. */
export const validator = (schema: TSchema): ((value: unknown) => void) => {
  const check = checker(schema);
  return (value) => {
    const faults = check(value);
    if (!faults[0]) return;
    const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
    throw new RequestError('invalid', `The body is not valid: ${faults[0].path || 'it'} ${faults[0].message}${more}`, {
      faults,
    });
  };
};
