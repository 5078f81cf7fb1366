import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ok } from './people.ts';
import type { TestService } from './service.ts';

type Ask = TestService['ask'];

const om = '/operations-manager';

/** Jobs of components that the platform runs itself, as an account. */
export const builtInOf = (ask: (...args: Parameters<Ask>) => Promise<any>) => {
  const get = async (id: string): Promise<any> => ok(await ask('GET', `${om}/jobs/${id}`)).data;
  return {
    template: async (name: string, template: string) =>
      ok(await ask('POST', '/template_builder/templates', { name, template })),
    commandTemplate: async (name: string, commands: readonly object[]) =>
      ok(await ask('POST', '/mop/createTemplate', { mop: { name, commands } })),
    agent: async (name: string, more: object) =>
      ok(await ask('POST', '/agent-session-manager/agents', { name, inputSchema: {}, ...more })),
    /** An automation with the name of its component. */
    automation: async (componentType: string, name: string, more: object = {}): Promise<string> =>
      ok(await ask('POST', `${om}/automations`, { name, componentType, componentName: name, ...more })).data._id,
    start: async (workflow: string, variables: object = {}): Promise<string> =>
      ok(await ask('POST', `${om}/jobs/start`, { workflow, options: { variables } })).data._id,
    move: async (what: string, ...jobIds: string[]) => ok(await ask('POST', `${om}/jobs/${what}`, { jobIds })),
    /** A report of an agent. */
    report: (session: string, what: 'complete' | 'fail', lastMessage: string): Promise<any> =>
      ask('POST', `/agent-session-manager/sessions/${session}/${what}`, { lastMessage }),
    get,
    /** The job once it is in this state. */
    inState: async (id: string, ...states: string[]): Promise<any> => {
      for (;;) {
        const job = await get(id);
        if (states.includes(job.status)) return job;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
  };
};

/** Commands that were sent to devices, and how they are answered. */
export type Controller = {
  readonly commands: { readonly device: string; readonly command: string; readonly response: ServerResponse }[];
  answer: (response: ServerResponse, command: string) => void;
  readonly adapter: (more?: object) => object;
  readonly close: () => void;
};

export const says =
  (output: string) =>
  (response: ServerResponse): void =>
    void response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ output }));

/** A controller of the devices r1 to r9. */
export const controller = async (): Promise<Controller> => {
  const commands: { device: string; command: string; response: ServerResponse }[] = [];
  const server: Server = createServer((request: IncomingMessage, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const { command } = JSON.parse(text);
      commands.push({ device: request.url ?? '', command, response });
      made.answer(response, command);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const devices = Array.from({ length: 9 }, (_, i) => ({ name: `r${i + 1}` }));
  const made: Controller = {
    commands,
    answer: says('fine'),
    adapter: (more = {}) => ({ name: 'controller', type: 'http', properties: { baseUrl, ...more }, devices }),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return made;
};
