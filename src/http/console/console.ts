import { type ConsoleFile, type ConsoleFiles, loadConsole } from '@automation-platform/console';
import { Type } from 'typebox';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Answer, AreaRoutes } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import type { Service } from '../engine/service.ts';

declare module '../engine/service.ts' {
  interface Service {
    /** False if CONSOLE=off leaves the console out. */
    readonly hasConsole: boolean;
  }
}

// The page may send requests to this service only, and runs only scripts that the service sends as files. Frames show
// what users wrote as HTML; they are part of the page and run nothing.
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const headersOfPage = {
  'Content-Security-Policy': contentSecurityPolicy,
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
};
const forAnHour = { 'Cache-Control': 'public, max-age=3600' };
// The path of a file in a folder has a hash of all files.
const forGood = { 'Cache-Control': 'public, max-age=31536000, immutable' };

const answerOf = ({ type, bytes }: ConsoleFile, headers: Answer['headers']): Answer => ({
  text: bytes,
  type: type.startsWith('text/') ? `${type}; charset=utf-8` : type,
  ...(headers && { headers }),
});

let loaded: Promise<ConsoleFiles> | undefined;

/** The files of the console, which are read once. */
const filesFor = async ({ hasConsole }: Service): Promise<ConsoleFiles> => {
  if (!hasConsole) throw new RequestError('not_found', 'No such path');
  loaded ??= loadConsole();
  return loaded.catch(() => {
    loaded = undefined;
    throw new RequestError('unavailable', 'The console is not built: npm run build');
  });
};

/** The page at /console, and its files. It shows and does nothing but what the other operations do. */
export const consoleRoutes: AreaRoutes = {
  area: 'service',
  prefix: '/console',
  routes: [
    actionRoute({
      name: 'console',
      method: 'get',
      path: '/',
      access: 'open',
      summary: 'The console: a page for operators, approvers and auditors',
      description: 'The page asks no other server for anything. CONSOLE=off leaves it out.',
      answer: Type.String({ contentMediaType: 'text/html' }),
      run: async (_, service) => answerOf((await filesFor(service)).page, headersOfPage),
    }),
    actionRoute({
      name: 'consoleFile',
      method: 'get',
      path: '/:filePath',
      access: 'open',
      summary: 'A file of the console',
      description: 'The path changes with the content, so browsers keep the file.',
      answer: Type.String({
        contentMediaType: 'image/svg+xml',
        description: 'The icon; scripts and styles in folders',
      }),
      run: async ({ params }, service) => {
        const file = (await filesFor(service)).files.get(params.filePath);
        if (!file) throw new RequestError('not_found', 'No such file of the console; load the page again');
        return answerOf(file, params.filePath.includes('/') ? forGood : forAnHour);
      },
    }),
  ],
};
