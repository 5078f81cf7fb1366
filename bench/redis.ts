import { spawn } from 'node:child_process';
import { freePort } from '../test/support/freePort.ts';
import { kept, temporary } from './processes.ts';

/** URL of a Redis of our own that keeps nothing on disk; undefined when redis-server is not installed. */
export const startRedis = async (): Promise<string | undefined> => {
  const port = await freePort();
  const server = kept(
    spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', await temporary()], {
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  return new Promise((resolve, reject) => {
    let said = '';
    server
      .once('error', () => resolve(undefined))
      .once('exit', () => reject(new Error(`redis-server did not start:\n${said}`)));
    server.stdout!.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('Ready to accept connections')) resolve(`redis://127.0.0.1:${port}`);
    });
  });
};
