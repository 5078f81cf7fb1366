import type { Server } from './loader.ts';
import { startProgram } from './processes.ts';
import type { Kind } from './programs/bareKoa.ts';

/** Bare Koa of that kind, listening. */
export const startBare = async (order: Kind): Promise<Server & { readonly stop: () => Promise<void> }> => {
  const program = startProgram('bareKoa');
  return { pid: program.pid, port: await program.ask<number>(order), stop: program.stop };
};
