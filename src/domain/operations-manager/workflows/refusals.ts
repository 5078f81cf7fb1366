import { RequestError } from '../../engine/requestError.ts';

/** Ends what a task does: its run gets the result `error` with this message. */
export const refuse = (message: string): never => {
  throw new RequestError('unprocessable', message);
};

/** Refuses a move of a job or a report about a task, for which the job is not in the right state. */
export const refuseMove = (message: string, path = ''): never => {
  throw new RequestError('conflict', message, { path });
};
