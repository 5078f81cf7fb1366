import protobuf from 'google-protobuf';

/** An event as EventStoreDB sends it. Numbers are texts, because they may be too large for a number of JavaScript. */
export type Told = {
  id: string;
  stream: string;
  type: string;
  contentType: string;
  /** In units of 100 nanoseconds since 1970. */
  created: string;
  revision: string;
  position: string;
  data: Buffer;
  metadata: Buffer;
};

/**
 * One message of the answer to a read or a subscription. It has at most one of these members. Messages of other kinds
 * have none.
 */
export type Answer = {
  /** Missing where a link leads to an event that is gone. */
  event?: Told;
  checkpoint?: { commit: string; prepare: string };
  streamNotFound?: true;
  firstRevision?: string;
  lastRevision?: string;
};

type Reader = protobuf.BinaryReader;

/** Functions that read the fields of a message, by field number. Other fields are skipped. */
type Fields<T> = { readonly [field: number]: (into: T, reader: Reader) => void };

const take = <T>(into: T, reader: Reader, fields: Fields<T>): void => {
  while (reader.nextField() && !reader.isEndGroup()) {
    const field = fields[reader.getFieldNumber()];
    if (field) field(into, reader);
    else reader.skipField();
  }
};

const takeMessage = <T>(into: T, reader: Reader, fields: Fields<T>): void =>
  reader.readMessage(into, () => take(into, reader, fields));

const bytesIn = (reader: Reader): Buffer => {
  const bytes = reader.readBytes() as Uint8Array;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};

const textIn = (reader: Reader): string => bytesIn(reader).toString();

// All requests ask for ids as texts, so no other form can come.
const ofId: Fields<Told> = {
  2: (event, reader) => {
    event.id = textIn(reader);
  },
};

const ofStream: Fields<Told> = {
  3: (event, reader) => {
    event.stream = textIn(reader);
  },
};

type Pair = { name: string; value: string };

const ofPair: Fields<Pair> = {
  1: (pair, reader) => {
    pair.name = textIn(reader);
  },
  2: (pair, reader) => {
    pair.value = textIn(reader);
  },
};

/** Reads one pair of name and value from the metadata that the server keeps for an event. */
const takePair = (event: Told, reader: Reader): void => {
  const pair = { name: '', value: '' };
  takeMessage(pair, reader, ofPair);
  if (pair.name === 'type') event.type = pair.value;
  else if (pair.name === 'content-type') event.contentType = pair.value;
  else if (pair.name === 'created') event.created = pair.value;
};

const ofEvent: Fields<Told> = {
  1: (event, reader) => takeMessage(event, reader, ofId),
  2: (event, reader) => takeMessage(event, reader, ofStream),
  3: (event, reader) => {
    event.revision = reader.readUint64String();
  },
  5: (event, reader) => {
    event.position = reader.readUint64String();
  },
  6: takePair,
  7: (event, reader) => {
    event.metadata = bytesIn(reader);
  },
  8: (event, reader) => {
    event.data = bytesIn(reader);
  },
};

const nothing = Buffer.alloc(0);

// The server does not send zeros and empty values, so these are the defaults.
const blank = (): Told => ({
  id: '',
  stream: '',
  type: '',
  contentType: 'application/octet-stream',
  created: '0',
  revision: '0',
  position: '0',
  data: nothing,
  metadata: nothing,
});

const ofRead: Fields<Answer> = {
  1: (answer, reader) => {
    answer.event = blank();
    takeMessage(answer.event, reader, ofEvent);
  },
};

const ofCheckpoint: Fields<NonNullable<Answer['checkpoint']>> = {
  1: (checkpoint, reader) => {
    checkpoint.commit = reader.readUint64String();
  },
  2: (checkpoint, reader) => {
    checkpoint.prepare = reader.readUint64String();
  },
};

const ofAnswer: Fields<Answer> = {
  1: (answer, reader) => takeMessage(answer, reader, ofRead),
  3: (answer, reader) => {
    answer.checkpoint = { commit: '0', prepare: '0' };
    takeMessage(answer.checkpoint, reader, ofCheckpoint);
  },
  4: (answer, reader) => {
    answer.streamNotFound = true;
    reader.skipField();
  },
  5: (answer, reader) => {
    answer.firstRevision = reader.readUint64String();
  },
  6: (answer, reader) => {
    answer.lastRevision = reader.readUint64String();
  },
};

/**
 * Parses an answer (`event_store.client.streams.ReadResp`) without the objects of the generated code. To make those
 * objects would take more than half of the time of a read.
 */
export const readAnswer = (bytes: Buffer): Answer => {
  const answer: Answer = {};
  take(answer, new protobuf.BinaryReader(bytes), ofAnswer);
  return answer;
};
