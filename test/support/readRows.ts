import { areas } from '../../src/http/areas.ts';
import { takesAsOf } from '../../src/http/engine/asOf.ts';
import { fullPathOf } from '../../src/http/engine/router.ts';
import type { Answer } from './service.ts';

const gets = (takes: boolean): readonly string[] =>
  areas.flatMap((area) =>
    area.routes
      .filter((route) => route.method === 'get' && !route.foreignQuery && takesAsOf(route) === takes)
      .map((route) => fullPathOf(area, route)),
  );

/** The full paths of all GET routes that take `asOf`. */
export const readRows = gets(true);

/** The full paths of the others, but for those whose query another program writes. */
export const otherRows = gets(false);

/** The list of the documents that a path reads, where it is not the path before the parameter. */
const listOf: Readonly<Record<string, string>> = {
  '/automation-studio/workflows/detailed': '/automation-studio/workflows',
  '/configuration_manager/compliance_reports/tree': '/configuration_manager/configs',
  '/configuration_manager/devicegroups': '/configuration_manager/deviceGroups',
  '/configuration_manager/groups/device': '/configuration_manager/deviceGroups',
  '/mop/listATemplate': '/mop/listTemplates',
  '/mop/listAnAnalyticTemplate': '/mop/listAnalyticTemplates',
};

/** What a list answers as documents: an array, or a member of an envelope. */
const documentsIn = (body: any): readonly Record<string, unknown>[] => {
  // a body is whatever the route says
  if (Array.isArray(body)) return body;
  if (Array.isArray(body?.data)) return body.data;
  return [body?.results, body?.items].find(Array.isArray) ?? [];
};

/** Rows whose parameters are members of the documents of another list. */
const byMembers: Readonly<Record<string, readonly [list: string, path: string]>> = {
  '/operations-manager/jobs/:id/tasks/:task': [
    '/operations-manager/tasks',
    '/operations-manager/jobs/:job/tasks/:task',
  ],
};

/** The first of the texts that a document lists, such as the names of its versions. */
const firstIn = (list: unknown): unknown =>
  Array.isArray(list) ? list.find((item) => typeof item === 'string') : undefined;

const parameters = /(?:\/:\w+)+/;

/** The path with its first parameters filled in from a document; undefined if it does not have them. */
const filledFrom = (path: string, document: Readonly<Record<string, unknown>>): string | undefined => {
  const called = document._id ?? document.id ?? document.sessionId ?? document.name;
  let isFilled = true;
  const filled = path.replace(parameters, (names) =>
    names.replace(/:(\w+)/g, (_, name: string) => {
      // A node is called by its name within its inventory.
      const value = document[name] ?? firstIn(document[`${name}s`]) ?? (name === 'node' ? document.name : called);
      isFilled &&= typeof value === 'string';
      return encodeURIComponent(String(value));
    }),
  );
  return isFilled ? filled : undefined;
};

type Ask = (path: string) => Promise<Answer>;

/** Paths of a row, with the first two documents of each list on the way to it. */
export const pathsOf = async (row: string, ask: Ask): Promise<readonly string[]> => {
  const [list, path] = byMembers[row] ?? [];
  if (list !== undefined && path !== undefined)
    return documentsIn((await ask(list)).body).map((document) =>
      path.replace(/:(\w+)/g, (_, name: string) => String(document[name])),
    );
  const at = row.search(parameters);
  if (at < 0) return [row];
  const before = row.slice(0, at);
  const { body } = await ask(listOf[before] ?? before);
  const found: string[] = [];
  for (const document of documentsIn(body).slice(0, 2)) {
    const path = filledFrom(row, document);
    if (path !== undefined) found.push(...(await pathsOf(path, ask)));
  }
  return found;
};
