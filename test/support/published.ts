import { join } from 'node:path';
import { connectToRead } from '../../src/store/sqlite/log.ts';

export type Published = { readonly type: string; readonly stream: string; readonly data: any }; // a payload

/** The published events in the log of a folder, by stream, also while the service writes. */
export const publishedIn = (folder: string): readonly Published[] => {
  const db = connectToRead(join(folder, 'events.db'));
  try {
    const rows = db
      .prepare("SELECT type, stream, data FROM events WHERE stream LIKE 'publishedEvent-%' ORDER BY stream")
      .all() as readonly [type: string, stream: string, data: string][];
    return rows.map(([type, stream, data]) => ({ type, stream, data: JSON.parse(data) }));
  } finally {
    db.close();
  }
};
