import { type Findings, inTurn, perSecond } from './compare.ts';
import { startProgram, temporary } from './processes.ts';
import type { GrpcClient, GrpcRates } from './programs/grpcClient.ts';
import type { GrpcLog } from './programs/grpcLog.ts';

const inFlight = 64;
const count = 20_000;

/** (h) Appends and reads through gRPC, compared with the same client on an echo of the protocol that keeps arrays. */
export const logOverGrpc = async (): Promise<Findings> => {
  const reads = { log: [] as number[], echo: [] as number[] };
  const measure = (by: GrpcLog['by']) => async (): Promise<number> => {
    const [server, client] = [startProgram('grpcLog'), startProgram('grpcClient')];
    const url = await server.ask<string>({ by, folder: await temporary() } satisfies GrpcLog);
    const rates = await client.ask<GrpcRates>({ url, count, inFlight } satisfies GrpcClient);
    reads[by].push(rates.reads);
    await client.stop();
    server.kill();
    return rates.appends;
  };
  const appends = await inTurn('h', { log: measure('log'), echo: measure('echo') });
  const comparedWith = 'the same client on an in-memory echo of the protocol';
  return {
    comparisons: [
      {
        what: `(h) durable appends through gRPC, ${inFlight} in flight`,
        comparedWith,
        ours: appends.log,
        theirs: appends.echo,
        shown: perSecond,
      },
      // The round that does not count is the first.
      {
        what: '(h) events read through gRPC',
        comparedWith,
        ours: reads.log.slice(1),
        theirs: reads.echo.slice(1),
        shown: perSecond,
      },
    ],
  };
};
