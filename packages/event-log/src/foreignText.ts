/**
 * The bytes as JSON text without spaces. JSON that cannot be parsed becomes a JSON string. Other content becomes a JSON
 * string of its base64.
 */
const toText = (bytes: Buffer, isJson: boolean): string => {
  if (!isJson) return JSON.stringify(bytes.toString('base64'));
  const text = bytes.toString();
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return JSON.stringify(text);
  }
};

const isJsonText = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const toMetadata = (bytes: Buffer, isOwn: boolean): string => {
  if (bytes.length === 0) return '{}';
  const text = bytes.toString();
  return isOwn ? text : toText(bytes, isJsonText(text));
};

/** The content of an event as its writer sent it. */
type Sent = {
  readonly type: string;
  readonly contentType: string;
  readonly data: Buffer;
  readonly metadata: Buffer;
};

/**
 * Data and metadata of an event as texts, the same in all kinds of logs. The platform's own texts stay as they were
 * written, because the hash is over them. Readers of the events notice when another program has spoilt one.
 */
export const textsOf = ({ type, contentType, data, metadata }: Sent) => {
  const isOwn = type.startsWith('@');
  const isJson = contentType === 'application/json';
  return {
    data: isOwn && isJson ? data.toString() : toText(data, isJson),
    metadata: toMetadata(metadata, isOwn),
  };
};
