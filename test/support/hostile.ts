import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { checker } from '@automation-platform/bounded-schemas';
import { DatabaseSync } from '@photostructure/sqlite';
import { areas } from '../../src/http/areas.ts';
import type { Route } from '../../src/http/engine/route.ts';
import { fullPathOf } from '../../src/http/engine/router.ts';
import type { TestService } from './service.ts';

export type Asked = {
  readonly route: Route;
  readonly method: string;
  readonly path: string;
  readonly params: readonly string[];
  readonly title: string;
};

/** Every route of the API. */
export const routes: readonly Asked[] = areas.flatMap((area) =>
  area.routes.map((route) => {
    const path = fullPathOf(area, route);
    const method = route.method.toUpperCase();
    return {
      route,
      method,
      path,
      params: [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!),
      title: `${method} ${path}`,
    };
  }),
);

/** Those that take a body. */
export const changes = routes.filter(({ method }) => method !== 'GET');

/** Whether the body may be a document of any installation: it keeps members that nobody knows, and numbers of any size. */
export const isWide = ({ route }: Pick<Asked, 'route'>): boolean => route.exact === '*';

/** Whether the body may be any JSON: the payload of an event. */
export const isAnyJson = ({ route }: Pick<Asked, 'route'>): boolean =>
  route.body !== undefined && !('type' in route.body) && !('anyOf' in route.body) && !('oneOf' in route.body);

/** A route's path with the same text, encoded already, for every parameter. */
export const at = ({ path }: Pick<Asked, 'path'>, value = 'nothing-has-this-id'): string =>
  path.replace(/:\w+/g, () => value);

/** The status of each code, as docs/status-codes.md has it. */
const statusOf: Readonly<Record<string, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  stale: 412,
  too_large: 413,
  unsupported_media: 415,
  expectation_failed: 417,
  unprocessable: 422,
  limited: 429,
  adapter_failed: 502,
  unavailable: 503,
};

type Reply = { readonly status: number; readonly headers: Headers; readonly text: string };

const internals =
  /\bat \S+ \(|node_modules|node:internal|\.[tj]s:\d|TypeError|ReferenceError|SyntaxError|\[object Object\]|SQLITE|Bearer |scrypt/;

/** That any answer has the headers that all have, and shows nothing of what is inside. */
export const wellFormed = ({ status, headers, text }: Reply, about: string): void => {
  assert.notEqual(status, 500, `${about}: ${text}`);
  assert.match(headers.get('x-request-id') ?? '', /^[\x21-\x7e]{1,128}$/, about);
  assert.equal(headers.get('vary'), 'Authorization, Cookie, Accept-Encoding', about);
  assert.equal(headers.get('x-content-type-options'), 'nosniff', about);
  assert.equal(headers.get('x-powered-by'), null, about);
  if (status >= 400) assert.doesNotMatch(text, internals, about);
};

/** That an answer is a failure with this code, in the one envelope, and names the place where there is one. */
export const failure = (answer: Reply, code: string, about: string, path?: string | RegExp): void => {
  assert.equal(answer.status, statusOf[code], `${about}: ${answer.status} ${answer.text.slice(0, 300)}`);
  wellFormed(answer, about);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8', about);
  const { message, data, metadata, ...more } = JSON.parse(answer.text);
  // Clients of OAuth read it.
  if (about.includes('/oauth/token')) delete more.error;
  assert.deepEqual([typeof message, data, more], ['string', null, {}], about);
  assert.ok(metadata.errors.length > 0 && metadata.errors.length <= 20, about);
  for (const fault of metadata.errors) {
    assert.equal(fault.code, code, about);
    assert.equal(typeof fault.message, 'string', about);
  }
  const paths: readonly unknown[] = metadata.errors.map((fault: { path?: unknown }) => fault.path);
  if (path === undefined) return;
  assert.ok(
    paths.some((found) => (typeof path === 'string' ? found === path : typeof found === 'string' && path.test(found))),
    `${about}: no fault names ${path}: ${answer.text.slice(0, 300)}`,
  );
};

/** The position of the last event of a resource. What the service records of requests by itself does not count. */
export const positionOf = async ({ folder }: Pick<TestService, 'folder'>): Promise<number> => {
  const db = new DatabaseSync(join(folder, 'events.db'), { readOnly: true });
  try {
    const byItself = ['denied', 'handedOut', 'digest'].map((category) => `stream NOT GLOB '${category}-*'`);
    const row = db.prepare(`SELECT max(position) AS position FROM events WHERE ${byItself.join(' AND ')}`).get();
    return (row as { readonly position: number }).position;
  } finally {
    db.close();
  }
};

type Schema = Readonly<Record<string, any>>; // a JSON Schema is any JSON

/** A small value of a schema. */
const sampleOf = (schema: Schema): unknown => {
  if ('const' in schema) return schema.const;
  if (schema.examples) return schema.examples[0];
  if (schema.enum) return schema.enum[0];
  if (schema.if) return sampleOf(schema.else);
  const some = schema.anyOf ?? schema.oneOf;
  if (some) return sampleOf(some[0]);
  switch (schema.type) {
    case 'object': {
      // A rule says of an object without members which members it has.
      const member = (name: string, of: Schema): Schema => {
        const own: Schema = schema.properties[name];
        const isOpen = own.type === 'object' && Object.keys(own.properties ?? {}).length === 0;
        return isOpen && of.properties?.[name]?.type === 'object' ? of.properties[name] : own;
      };
      const made = (names: readonly string[] = [], of: Schema = schema) =>
        Object.fromEntries(names.map((name) => [name, sampleOf(member(name, of))]));
      const some = made(schema.required);
      const rules: readonly Schema[] = (schema.allOf ?? []).filter((rule: Schema) =>
        Object.entries<Schema>(rule.if.properties).every(([name, { const: value }]) => some[name] === value),
      );
      return Object.assign(some, ...rules.map(({ then }) => made(then.required, then)));
    }
    case 'array':
      return schema.minItems ? [sampleOf(schema.items)] : [];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'string':
      return schema.format === 'date-time'
        ? '2026-01-01T00:00:00.000Z'
        : /\{\d+\}\$$/.test(schema.pattern ?? '')
          ? '0'.repeat(Number(/\{(\d+)\}\$$/.exec(schema.pattern)![1]))
          : 'sample'.padEnd(schema.minLength ?? 1, 'x');
    default:
      return {};
  }
};

type Faulty = readonly [body: unknown, path: string];

/** Values that a schema refuses in one place: of another type, missing, unknown, out of bounds. */
const faultyOf = (schema: Schema, at = ''): readonly Faulty[] => {
  const here = (...values: readonly unknown[]): readonly Faulty[] => values.map((value) => [value, at]);
  const forms: readonly Schema[] | undefined = schema.if ? [schema.then, schema.else] : (schema.anyOf ?? schema.oneOf);
  if (forms) return forms.flatMap((form) => faultyOf(form ?? {}, at));
  if (schema.enum) return here('none of these');
  switch (schema.type) {
    case 'object': {
      const fits = sampleOf(schema) as Record<string, unknown>;
      const required: readonly string[] = schema.required ?? [];
      const unknown = 'nobody knows';
      return [
        ...here([], 'x'),
        ...(schema.additionalProperties === false ? [[{ ...fits, [unknown]: 1 }, `${at}/${unknown}`] as const] : []),
        ...required.map((name): Faulty => {
          const { [name]: _, ...less } = fits;
          return [less, `${at}/${name}`];
        }),
        ...Object.entries<Schema>(schema.properties ?? {}).flatMap(([name, member]) =>
          faultyOf(member, `${at}/${name}`).map(([value, path]): Faulty => [{ ...fits, [name]: value }, path]),
        ),
      ];
    }
    case 'array':
      return [
        ...here({}, ...(schema.minItems ? [[]] : [])),
        ...faultyOf(schema.items, `${at}/0`).map(([value, path]): Faulty => [[value], path]),
      ];
    case 'integer':
    case 'number':
      return here(
        'x',
        (schema.minimum ?? 0) - 1,
        (schema.maximum ?? 0) + 1,
        ...(schema.type === 'integer' ? [1.5] : []),
      );
    case 'string':
      return here(7, '', 'tomorrow', 'ä;\n', 'x'.repeat(Math.min(schema.maxLength ?? 0, 100_000) + 1));
    case 'boolean':
      return here('yes');
    default:
      return [];
  }
};

/** Bodies of a route that its schema refuses in one place each, with the path of that. */
export const faultyBodies = ({ route }: Asked): readonly Faulty[] => {
  const check = checker(route.body ?? {});
  return faultyOf(route.body ?? {}).filter(([body, at]) => check(body).some(({ path }) => path === at));
};

/** A body that fits a route's schema; undefined when it takes none, or one is not made up so easily. */
export const bodyFor = ({ route }: Asked): unknown => {
  if (!route.body) return undefined;
  const body = sampleOf(route.body);
  return checker(route.body)(body).length === 0 ? body : undefined;
};

/** The members that a body may have at its top, wrapped or not. */
export const membersOf = ({ route }: Asked): readonly string[] => {
  const { properties, else: plain } = (route.body ?? {}) as Schema;
  return Object.keys(properties ?? plain?.properties ?? {});
};

/** What comes back over a socket for bytes sent as they are, once the other side has closed it. */
export const rawly = async (url: string, bytes: string | Buffer): Promise<string> => {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(bytes);
  let text = '';
  for await (const chunk of socket.setEncoding('latin1')) text += chunk;
  return text;
};

/** The last answer of what `rawly` gave. */
export const answerIn = (text: string): Reply => {
  const [head = '', ...rest] = text.slice(text.lastIndexOf('HTTP/1.1 ')).split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(first.split(' ')[1]), headers, text: rest.join('\r\n\r\n') };
};
