import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import rpc from '@eventstore/db-client/generated/status_pb.js';
import streams, {
  type AppendReq,
  type BatchAppendReq,
  type BatchAppendResp,
  type ReadReq,
  type ReadResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import { Metadata, type ServerDuplexStream, type ServerWritableStream, status } from '@grpc/grpc-js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import { streamIdentifier } from '../../src/store/eventstoredb/events.ts';
import { failure, type IStreamsServer } from './scriptedEventStore.ts';

type Kept = {
  readonly stream: string;
  readonly revision: number | bigint;
  readonly position: number;
  readonly message: BatchAppendReq.ProposedMessage;
};

/** An append as it was sent: `expected` is -1 for "no stream". */
export type Proposal = {
  readonly id: string;
  readonly stream: string;
  readonly expected: number;
  readonly messages: readonly BatchAppendReq.ProposedMessage[];
};

/** A call that brings appends. */
export type AppendCall = ServerDuplexStream<BatchAppendReq, BatchAppendResp>;

/** Sends, and waits while the call has more to send than it can. */
const send = (call: ServerWritableStream<ReadReq, ReadResp>, message: ReadResp): Promise<void> | undefined => {
  if (call.write(message)) return undefined;
  return new Promise((resolve) => {
    const done = (): void => {
      call.off('drain', done);
      call.off('cancelled', done);
      resolve();
    };
    call.on('drain', done).on('cancelled', done);
  });
};

const nameOf = (id: { getStreamName_asU8(): Uint8Array } | undefined): string =>
  Buffer.from(id!.getStreamName_asU8()).toString();

const proposalOf = (request: BatchAppendReq): Proposal => {
  const options = request.getOptions()!;
  const expected = options.hasNoStream() ? -1 : options.hasAny() ? NaN : Number(options.getStreamPosition());
  return {
    id: request.getCorrelationId()!.getString(),
    stream: nameOf(options.getStreamIdentifier()),
    expected,
    messages: request.getProposedMessagesList(),
  };
};

/** The same out of the messages of an append that is not in a batch. */
const appendOf = ([first, ...rest]: readonly AppendReq[]): Proposal => {
  const options = first!.getOptions()!;
  const expected = options.hasNoStream() ? -1 : options.hasAny() ? NaN : Number(options.getRevision());
  const messages = rest.map((request) => {
    const sent = request.getProposedMessage()!;
    const message = new streams.BatchAppendReq.ProposedMessage()
      .setId(sent.getId())
      .setData(sent.getData_asU8())
      .setCustomMetadata(sent.getCustomMetadata_asU8());
    sent.getMetadataMap().forEach((value: string, key: string) => {
      message.getMetadataMap().set(key, value);
    });
    return message;
  });
  return { id: '', stream: nameOf(options.getStreamIdentifier()), expected, messages };
};

/** An event that the server itself writes. */
const systemEvent = (type: string, data: string): BatchAppendReq.ProposedMessage => {
  const message = new streams.BatchAppendReq.ProposedMessage()
    .setId(new shared.UUID().setString(randomUUID()))
    .setData(Buffer.from(data));
  message
    .getMetadataMap()
    .set('type', type)
    .set('content-type', data === '' ? 'application/octet-stream' : 'application/json');
  return message;
};

const largestRevision = 9223372036854775807n;
// As a deleted stream has it in its metadata.
const everything = /"\$tb": *9223372036854775807/;

/** An id as EventStoreDB sends it, in two numbers. */
const structured = (id: string) => {
  const bits = id.replaceAll('-', '');
  const half = (text: string): string => String(BigInt.asIntN(64, BigInt(`0x${text}`)));
  return new shared.UUID().setStructured(
    new shared.UUID.Structured()
      .setMostSignificantBits(half(bits.slice(0, 16)))
      .setLeastSignificantBits(half(bits.slice(16))),
  );
};

/** When events were stored, in milliseconds. */
export const created = Date.parse('2026-05-01T10:00:00.000Z');

type Options = {
  /** Whether an append that was stored already is answered as the first time; EventStoreDB does so where it can. */
  readonly remembers?: boolean;
  /** False for a version before 22.10, which gives no positions with the events of a stream. */
  readonly positions?: boolean;
  /** Bytes of data that an append may hold. */
  readonly most?: number;
  /** What becomes of an append; `usual` stores it and answers. */
  readonly script?: (proposal: Proposal, call: AppendCall, usual: () => void) => void;
};

/**
 * EventStoreDB's streams in arrays: append, read and subscribe as its protocol has them. Positions have gaps, as its
 * own do.
 */
export const memoryEventStore = ({ remembers = true, positions = true, most = Infinity, script }: Options = {}) => {
  const all: Kept[] = [];
  const byStream = new Map<string, Kept[]>();
  const news = new EventEmitter().setMaxListeners(0);

  const keep = (stream: string, messages: readonly BatchAppendReq.ProposedMessage[]): Kept => {
    const inStream = byStream.get(stream) ?? [];
    byStream.set(stream, inStream);
    const named = stream.replace(/^\$\$/, '');
    const cut = isDeleted(named) ? (byStream.get(named) ?? []).length : undefined;
    for (const message of messages) {
      const event = { stream, revision: inStream.length, position: 100 * (all.length + 1), message };
      inStream.push(event);
      all.push(event);
    }
    news.emit('stored');
    const last = inStream.at(-1)!;
    if (cut !== undefined) bringBack(named, cut);
    return last;
  };

  const metadataOf = (stream: string): string =>
    Buffer.from(byStream.get(`$$${stream}`)?.at(-1)?.message.getData_asU8() ?? []).toString();
  const isDeleted = (stream: string): boolean => everything.test(metadataOf(stream));

  /** As EventStoreDB does when something is written to a deleted stream, or to its metadata. */
  const bringBack = (stream: string, $tb: number): void => {
    const metadata = JSON.parse(metadataOf(stream)) as object;
    const message = systemEvent('$metadata', JSON.stringify({ ...metadata, $tb }));
    const metastream = byStream.get(`$$${stream}`)!;
    const event = { stream: `$$${stream}`, revision: metastream.length, position: 100 * (all.length + 1), message };
    metastream.push(event);
    all.push(event);
  };

  /** Ends a stream for ever. */
  const end = (stream: string): Kept => {
    const event = {
      stream,
      revision: largestRevision,
      position: 100 * (all.length + 1),
      message: systemEvent('$streamDeleted', ''),
    };
    ended.add(stream);
    all.push(event);
    return event;
  };
  const ended = new Set<string>();

  /** The first revision that the server shows, as the metadata of the stream say; Infinity when it was deleted. */
  const shownFrom = (stream: string): number => {
    const metadata = metadataOf(stream);
    if (everything.test(metadata)) return Infinity;
    const { $tb = 0, $maxCount = Infinity } = JSON.parse(metadata || '{}') as {
      readonly $tb?: number;
      readonly $maxCount?: number;
    };
    return Math.max(0, $tb, (byStream.get(stream) ?? []).length - $maxCount);
  };
  const isShown = (stream: string): boolean => byStream.has(stream) && shownFrom(stream) < Infinity;

  const scavenged = new Set<Kept>();
  /** Takes an event away. */
  const scavenge = (stream: string, revision: number): void => {
    scavenged.add(byStream.get(stream)![revision]!);
  };
  const system = new streams.BatchAppendReq.ProposedMessage()
    .setId(new shared.UUID().setString('00000000-0000-4000-8000-000000000001'))
    .setData(Buffer.from('{}'));
  system.getMetadataMap().set('type', '$metadata').set('content-type', 'application/json');
  keep('$$$users', [system]);

  const success = ({ revision, position }: Kept): BatchAppendResp =>
    new streams.BatchAppendResp().setSuccess(
      new streams.BatchAppendResp.Success()
        .setCurrentRevision(String(revision))
        .setPosition(
          new shared.AllStreamPosition().setCommitPosition(String(position)).setPreparePosition(String(position)),
        ),
    );

  const wrong = (current: number): BatchAppendResp => {
    const answer = new shared.WrongExpectedVersion();
    if (current < 0) answer.setCurrentNoStream(new empty.Empty());
    else answer.setCurrentStreamRevision(String(current));
    const details = new any.Any();
    details.pack(answer.serializeBinary(), 'event_store.client.WrongExpectedVersion');
    return new streams.BatchAppendResp().setError(
      new rpc.Status().setMessage('WrongExpectedVersion').setDetails(details),
    );
  };

  const gone = (stream: string): BatchAppendResp => {
    const details = new any.Any();
    const answer = new shared.StreamDeleted().setStreamIdentifier(streamIdentifier(stream));
    details.pack(answer.serializeBinary(), 'event_store.client.StreamDeleted');
    return new streams.BatchAppendResp().setError(new rpc.Status().setMessage('StreamDeleted').setDetails(details));
  };

  /** Stores an append, or says why not. */
  const stored = ({ stream, expected, messages }: Proposal): BatchAppendResp => {
    const inStream = byStream.get(stream) ?? [];
    const current = inStream.length - 1;
    if (ended.has(stream)) return gone(stream);
    if (Number.isNaN(expected) || current === expected || (expected < 0 && isDeleted(stream)))
      return success(keep(stream, messages));
    const same =
      remembers &&
      messages.every(
        (message, n) => inStream[expected + 1 + n]?.message.getId()!.getString() === message.getId()!.getString(),
      );
    return same ? success(inStream[expected + messages.length]!) : wrong(current);
  };

  const store = (proposal: Proposal): BatchAppendResp => stored(proposal).setCorrelationId(structured(proposal.id));

  const response = ({ stream, revision, position, message }: Kept, ofAll: boolean): ReadResp => {
    const event = new streams.ReadResp.ReadEvent.RecordedEvent()
      .setId(message.getId())
      .setStreamRevision(String(revision))
      .setStreamIdentifier(streamIdentifier(stream))
      .setCustomMetadata(message.getCustomMetadata_asU8())
      .setData(message.getData_asU8());
    if (positions || ofAll) event.setCommitPosition(String(position)).setPreparePosition(String(position));
    message.getMetadataMap().forEach((value: string, key: string) => {
      event.getMetadataMap().set(key, value);
    });
    // All that it keeps of a content type.
    if (event.getMetadataMap().get('content-type') !== 'application/json')
      event.getMetadataMap().set('content-type', 'application/octet-stream');
    event.getMetadataMap().set('created', String(BigInt(created) * 10_000n));
    return new streams.ReadResp().setEvent(new streams.ReadResp.ReadEvent().setEvent(event));
  };

  const filterOf = (options: ReadReq.Options): ((event: Kept) => boolean) => {
    const [types, names] = [options.getFilter()?.getEventType(), options.getFilter()?.getStreamIdentifier()];
    const expression = types ?? names;
    const [prefixes, pattern] = [expression?.getPrefixList() ?? [], new RegExp(expression?.getRegex() ?? '')];
    return ({ stream, message }) => {
      const text = types ? message.getMetadataMap().get('type')! : stream;
      return prefixes.length > 0 ? prefixes.some((prefix) => text.startsWith(prefix)) : pattern.test(text);
    };
  };

  /**
   * Of a stream: from a revision on, or backwards from there. Of all: from a position on, or backwards from before it.
   */
  const range = (options: ReadReq.Options): Kept[] => {
    const forwards = options.getReadDirection() === streams.ReadReq.Options.ReadDirection.FORWARDS;
    const inStream = options.getStream();
    const name = inStream && nameOf(inStream.getStreamIdentifier());
    const events = name === undefined ? all : byStream.get(name)!.slice(shownFrom(name));
    const place = inStream ?? options.getAll()!;
    const from = place.hasStart()
      ? 0
      : place.hasEnd()
        ? Infinity
        : Number(inStream ? inStream.getRevision() : options.getAll()!.getPosition()!.getCommitPosition());
    const at = (event: Kept): number => (inStream ? Number(event.revision) : event.position);
    const begin = inStream ? 0 : Math.min(events.length, Math.max(0, Math.ceil(from / 100) - 1));
    const found = forwards
      ? events.slice(begin).filter((event) => at(event) >= from)
      : events.filter((event) => (inStream ? at(event) <= from : at(event) < from)).reverse();
    return found.filter(filterOf(options)).slice(0, Number(options.getCount()));
  };

  /** Sends what is there and what comes, with a checkpoint after each 32 events that do not pass. */
  const subscribe = async (call: ServerWritableStream<ReadReq, ReadResp>, options: ReadReq.Options): Promise<void> => {
    const passes = filterOf(options);
    const from = options.getAll()!.hasStart() ? 0 : Number(options.getAll()!.getPosition()!.getCommitPosition());
    call.write(
      new streams.ReadResp().setConfirmation(new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId('s')),
    );
    let passedOver = 0;
    for (let next = Math.ceil((from + 1) / 100) - 1; !call.cancelled; next++) {
      while (next >= all.length && !call.cancelled) await once(news, 'stored');
      const event = all[next]!;
      if (call.cancelled) return;
      if (passes(event)) {
        await send(call, response(event, true));
      } else if (++passedOver % 32 === 0) {
        const position = String(event.position);
        call.write(
          new streams.ReadResp().setCheckpoint(
            new streams.ReadResp.Checkpoint().setCommitPosition(position).setPreparePosition(position),
          ),
        );
      }
    }
  };

  const read = async (call: ServerWritableStream<ReadReq, ReadResp>): Promise<void> => {
    const options = call.request.getOptions()!;
    if (options.hasSubscription()) return subscribe(call, options);
    const stream = options.getStream();
    const name = stream && nameOf(stream.getStreamIdentifier());
    if (name !== undefined && ended.has(name)) {
      const metadata = new Metadata();
      metadata.set('exception', 'stream-deleted');
      metadata.set('stream-name', name);
      return void call.emit('error', {
        ...failure(status.FAILED_PRECONDITION, `Event stream '${name}' is deleted.`),
        metadata,
      });
    }
    if (stream && !isShown(name!)) {
      call.write(
        new streams.ReadResp().setStreamNotFound(
          new streams.ReadResp.StreamNotFound().setStreamIdentifier(stream.getStreamIdentifier()),
        ),
      );
    } else {
      for (const event of range(options)) {
        if (call.cancelled) return;
        if (!scavenged.has(event)) await send(call, response(event, !stream));
      }
      if (name !== undefined && options.getControlOption())
        call.write(new streams.ReadResp().setLastStreamPosition(String(byStream.get(name)!.length - 1)));
    }
    call.end();
  };

  return {
    all,
    store,
    keep,
    end,
    scavenge,
    /** What others may do to a stream: give it metadata, or delete it so that it comes back when it is written to. */
    metadata: (stream: string, text: string): void => void keep(`$$${stream}`, [systemEvent('$metadata', text)]),
    softDelete: (stream: string): void =>
      void keep(`$$${stream}`, [systemEvent('$metadata', `{"$tb":${largestRevision}}`)]),
    /** An event of somebody else, or of the server's own. */
    event: (stream: string, type: string, data = '{}'): Kept => keep(stream, [systemEvent(type, data)]),
    handlers: {
      read: (call) => void read(call),
      append: (call, answer) => {
        const requests: AppendReq[] = [];
        call
          .on('data', (request: AppendReq) => requests.push(request))
          .on('end', () => {
            if (appendOf(requests).messages.reduce((sum, message) => sum + message.getData_asU8().length, 0) > most) {
              const metadata = new Metadata();
              metadata.set('exception', 'maximum-append-size-exceeded');
              metadata.set('maximum-append-size', String(most));
              answer({ ...failure(status.INVALID_ARGUMENT), metadata } as Parameters<typeof answer>[0], null);
              return;
            }
            const outcome = stored(appendOf(requests));
            const response = new streams.AppendResp();
            const wrongVersion = outcome.getError() && new streams.AppendResp.WrongExpectedVersion();
            if (!wrongVersion) {
              answer(
                null,
                response.setSuccess(
                  new streams.AppendResp.Success().setCurrentRevision(outcome.getSuccess()!.getCurrentRevision()),
                ),
              );
            } else {
              const current = (byStream.get(appendOf(requests).stream) ?? []).length - 1;
              if (current < 0) wrongVersion.setCurrentNoStream(new shared.Empty());
              else wrongVersion.setCurrentRevision(String(current));
              answer(null, response.setWrongExpectedVersion(wrongVersion));
            }
          });
      },
      tombstone: (call, answer) => {
        const stream = nameOf(call.request.getOptions()!.getStreamIdentifier());
        if (ended.has(stream))
          answer(
            failure(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`) as Parameters<typeof answer>[0],
            null,
          );
        else
          answer(
            null,
            new streams.TombstoneResp().setPosition(
              new streams.TombstoneResp.Position().setCommitPosition(String(end(stream).position)),
            ),
          );
      },
      batchAppend: (call) => {
        call
          .on('data', (request: BatchAppendReq) => {
            const proposal = proposalOf(request);
            if (script) script(proposal, call, () => call.write(store(proposal)));
            else call.write(store(proposal));
          })
          .on('end', () => call.end());
      },
    } satisfies Partial<IStreamsServer>,
  };
};
