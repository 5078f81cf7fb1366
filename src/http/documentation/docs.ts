import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Type } from 'typebox';
import type { ListedTopic } from '../../domain/topics.ts';
import type { ActionRoute, Answer, AreaRoutes } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { asyncapi } from './asyncapi.ts';
import { openapi } from './openapi.ts';
import { readRecorded } from './openapiParts.ts';

// The page may send requests to this service only, and runs only scripts that the service sends as files.
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const headers = { 'Content-Security-Policy': contentSecurityPolicy, 'Referrer-Policy': 'no-referrer' };
const cached = { 'Cache-Control': 'public, max-age=3600' };

const page = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Automation Platform: API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="icon" type="image/png" href="docs/icon.png">
</head>
<body>
<div id="api"></div>
<script src="docs/swagger-ui.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

const start = `SwaggerUIBundle({
  url: 'openapi.json', dom_id: '#api', deepLinking: true, docExpansion: 'none', filter: true, tryItOutEnabled: true,
  validatorUrl: null, displayRequestDuration: true, defaultModelsExpandDepth: 0,
});
`;

const fileRoute = (
  name: string,
  path: string,
  type: string,
  read: () => Promise<Pick<Answer, 'text' | 'headers'>>,
): ActionRoute =>
  actionRoute({
    name,
    method: 'get',
    path,
    access: 'open',
    summary: `The page that shows this API: ${path === '/' ? 'the page itself' : path.slice(1)}`,
    description: 'The page asks no other server for anything.',
    answer: Type.String({ contentMediaType: type }),
    run: async () => ({ type: type.startsWith('text/') ? `${type}; charset=utf-8` : type, ...(await read()) }),
  });

const distributed = (file: string) => {
  let content: Promise<Buffer> | undefined;
  return async () => {
    content ??= readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${file}`));
    return { text: await content, headers: cached };
  };
};

/** The page at /docs: Swagger UI from the installed package, without requests to other hosts. */
export const docsRoutes: AreaRoutes = {
  area: 'service',
  prefix: '/docs',
  routes: [
    fileRoute('docs', '/', 'text/html', async () => ({ text: page, headers })),
    fileRoute('docsStart', '/start.js', 'text/javascript', async () => ({ text: start, headers: cached })),
    fileRoute('docsScript', '/swagger-ui.js', 'text/javascript', distributed('swagger-ui-bundle.js')),
    fileRoute('docsStyle', '/swagger-ui.css', 'text/css', distributed('swagger-ui.css')),
    fileRoute('docsIcon', '/icon.png', 'image/png', distributed('favicon-32x32.png')),
  ],
};

/**
 * `/openapi.json`. `areas` is called once the table of routes is complete. The text is made at the first request and
 * kept.
 */
export const openapiRoutes = (areas: () => readonly AreaRoutes[], about: { readonly version: string }): AreaRoutes => {
  let text: Promise<Buffer> | undefined;
  const written = async (): Promise<Buffer> =>
    Buffer.from(JSON.stringify(openapi(areas(), { ...about, recorded: await readRecorded() })));
  return {
    area: 'service',
    prefix: '/openapi.json',
    routes: [
      actionRoute({
        name: 'openapi',
        method: 'get',
        path: '/',
        access: 'open',
        summary: 'This description of the API, OpenAPI 3.1',
        description: 'Made of the table that requests are checked by. Tests record its examples.',
        answer: Type.Object({}, { additionalProperties: true }),
        run: async () => {
          text ??= written();
          return { text: await text };
        },
      }),
    ],
  };
};

/** `/asyncapi.json`: the events, as `/openapi.json` is for requests. */
export const asyncapiRoutes = (topics: readonly ListedTopic[], about: { readonly version: string }): AreaRoutes => {
  let text: Buffer | undefined;
  return {
    area: 'service',
    prefix: '/asyncapi.json',
    routes: [
      actionRoute({
        name: 'asyncapi',
        method: 'get',
        path: '/',
        access: 'login',
        summary: 'A description of the events, AsyncAPI 3.0',
        description: 'Made of the tables by which the platform describes its own events.',
        answer: Type.Object({}, { additionalProperties: true }),
        run: async () => {
          text ??= Buffer.from(JSON.stringify(asyncapi(topics, about)));
          return { text };
        },
      }),
    ],
  };
};
