import type { Appended } from '@automation-platform/event-log';
import type {
  AppendReq,
  AppendResp,
  DeleteReq,
  DeleteResp,
  TombstoneReq,
  TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerReadableStream } from '@grpc/grpc-js';
import type { Rights } from './access.ts';
import { messagesOf } from './calls.ts';
import { expectedIn, wrongVersionAnswer } from './expected.ts';
import { badRequest, Fault } from './faults.ts';
import { streamIn } from './messages.ts';
import { gathering } from './proposed.ts';
import type { Writes } from './writes.ts';

const success = ({ revision, position }: Appended): AppendResp => {
  const at = new streams.AppendResp.Position().setCommitPosition(String(position)).setPreparePosition(String(position));
  return new streams.AppendResp().setSuccess(
    new streams.AppendResp.Success().setCurrentRevision(String(revision)).setPosition(at),
  );
};

/**
 * Append: the caller sends the options, then the events one by one. After the last one they are stored together, if the
 * caller still has the right.
 */
export const append = async (
  call: ServerReadableStream<AppendReq, AppendResp>,
  rights: Rights,
  writes: Writes,
): Promise<AppendResp> => {
  const events = gathering();
  let options: AppendReq.Options | undefined;
  for await (const request of messagesOf(call)) {
    const message = request.getProposedMessage();
    if (options ? !message : !request.hasOptions()) throw badRequest('An append is its options, then its events');
    options ??= request.getOptions();
    if (message) events.take([message]);
    if (events.isRefused()) break;
  }
  if (!options) throw badRequest('An append is its options, then its events');
  try {
    return success(
      await writes.append(await rights(), streamIn(options.getStreamIdentifier()), expectedIn(options), events.all()),
    );
  } catch (error) {
    if (error instanceof Fault && error.wrong) return wrongVersionAnswer(error.wrong);
    throw error;
  }
};

/** Delete and Tombstone. Returns the place of the event that marks the delete. */
export const remove = async (
  request: DeleteReq | TombstoneReq,
  rights: Rights,
  writes: Writes,
  forEver: boolean,
): Promise<Appended> => {
  const options = request.getOptions();
  if (!options) throw badRequest('The options are missing');
  return writes.remove(await rights(), streamIn(options.getStreamIdentifier()), expectedIn(options), forEver);
};

/** The answer to Delete. */
export const deleted = ({ position }: Appended): DeleteResp =>
  new streams.DeleteResp().setPosition(
    new streams.DeleteResp.Position().setCommitPosition(String(position)).setPreparePosition(String(position)),
  );

/** The answer to Tombstone. */
export const tombstoned = ({ position }: Appended): TombstoneResp =>
  new streams.TombstoneResp().setPosition(
    new streams.TombstoneResp.Position().setCommitPosition(String(position)).setPreparePosition(String(position)),
  );
