import type { Appended } from '@automation-platform/event-log';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import statuses from '@eventstore/db-client/generated/status_pb.js';
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerDuplexStream, status } from '@grpc/grpc-js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import type { May, Rights } from './access.ts';
import { type Answering, messagesOf } from './calls.ts';
import { expectedInBatch } from './expected.ts';
import { badRequest, exhausted, type Fault, faultOf, timedOut } from './faults.ts';
import { streamIn, uuidIn } from './messages.ts';
import { type Gathering, gathering } from './proposed.ts';
import type { Writes } from './writes.ts';

type Batch = { readonly options: BatchAppendReq.Options; readonly events: Gathering };

// Limits of one call: batches that are not finished, and batches that have no answer yet.
const mostOpen = 64;
const mostOpenBytes = 8 * 1024 * 1024;
const mostUnderWay = 256;
const mostBytesUnderWay = 16 * 1024 * 1024;

const failed = (fault: Fault): statuses.Status => {
  const details = new any.Any();
  details.pack(fault.detail.message.serializeBinary(), fault.detail.name);
  return new statuses.Status()
    .setCode(fault.code as number)
    .setMessage(fault.details)
    .setDetails(details);
};

const succeeded = ({ revision, position }: Appended): BatchAppendResp.Success =>
  new streams.BatchAppendResp.Success()
    .setCurrentRevision(String(revision))
    .setPosition(
      new shared.AllStreamPosition().setCommitPosition(String(position)).setPreparePosition(String(position)),
    );

const isLate = (options: BatchAppendReq.Options): boolean => {
  const deadline = options.getDeadline();
  return deadline !== undefined && deadline.getSeconds() * 1000 + deadline.getNanos() / 1e6 < Date.now();
};

/** The answer to a batch. It repeats the stream and the expected revision of the batch. */
const answerTo = (request: BatchAppendReq, options: BatchAppendReq.Options): BatchAppendResp => {
  const answer = new streams.BatchAppendResp().setCorrelationId(request.getCorrelationId());
  if (options.hasStreamIdentifier()) answer.setStreamIdentifier(options.getStreamIdentifier());
  if (options.hasStreamPosition()) answer.setStreamPosition(options.getStreamPosition());
  else if (options.hasNoStream()) answer.setNoStream(options.getNoStream());
  else if (options.hasAny()) answer.setAny(options.getAny());
  else if (options.hasStreamExists()) answer.setStreamExists(options.getStreamExists());
  return answer;
};

type Needs = {
  readonly rights: Rights;
  readonly writes: Writes;
  readonly report: (error: unknown) => void;
};

/**
 * BatchAppend: many appends in one call. Each append comes in one or several messages with its correlation id. The
 * appends begin in the order of their last messages. Each is answered when it is stored or refused. If the log cannot
 * be reached, the call ends.
 */
export const batchAppend = async (
  call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>,
  { send, fail, signal }: Answering<BatchAppendResp>,
  { rights, writes, report }: Needs,
): Promise<void> => {
  const open = new Map<string, Batch>();
  const underWay = new Set<Promise<void>>();
  let bytesUnderWay = 0;
  let finished = (): void => undefined;
  const oneFinishes = (): Promise<void> =>
    new Promise((resolve) => {
      finished = resolve;
    });

  const batchOf = (id: string, request: BatchAppendReq): Batch => {
    const openBatch = open.get(id);
    if (openBatch) return openBatch;
    const options = request.getOptions();
    if (!options) throw badRequest('The first message of a batch has options');
    if (open.size >= mostOpen) throw exhausted(`At most ${mostOpen} batches may be unfinished at a time`);
    const batch = { options, events: gathering() };
    open.set(id, batch);
    return batch;
  };

  const store = async (request: BatchAppendReq, { options, events }: Batch, may: May): Promise<void> => {
    const answer = answerTo(request, options);
    try {
      if (isLate(options)) throw timedOut();
      answer.setSuccess(
        succeeded(
          await writes.append(may, streamIn(options.getStreamIdentifier()), expectedInBatch(options), events.all()),
        ),
      );
    } catch (error) {
      const fault = faultOf(error, report);
      // The protocol has no name for this error. The call ends, because the outcome of its other appends is unknown as
      // well.
      if (fault.code === status.UNAVAILABLE) throw fault;
      answer.setError(failed(fault));
    }
    await send(answer);
  };

  const begin = (request: BatchAppendReq, batch: Batch, may: May): void => {
    const size = batch.events.size();
    const work = store(request, batch, may)
      .catch(fail)
      .finally(() => {
        underWay.delete(work);
        bytesUnderWay -= size;
        finished();
      });
    underWay.add(work);
    bytesUnderWay += size;
  };

  for await (const request of messagesOf(call)) {
    const id = uuidIn(request.getCorrelationId(), 'The correlation id');
    const batch = batchOf(id, request);
    batch.events.take(request.getProposedMessagesList());
    if (request.getIsFinal()) {
      open.delete(id);
      // The rights are checked for each batch, because a call may go on for days.
      begin(request, batch, await rights());
    } else if ([...open.values()].reduce((sum, { events }) => sum + events.size(), 0) > mostOpenBytes) {
      throw exhausted(`Unfinished batches may hold ${mostOpenBytes} bytes together`);
    }
    while (underWay.size >= mostUnderWay || bytesUnderWay > mostBytesUnderWay) await oneFinishes();
    signal.throwIfAborted();
  }
  await Promise.all(underWay);
};
