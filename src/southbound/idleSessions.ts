/** A session that can be used again. */
type Session = { close(): void };

type Kept<S> = { readonly session: S; readonly timer: NodeJS.Timeout };

const most = 256;

/** Sessions that nobody uses at the moment: one for each key, for some time; the oldest ends when there are too many. */
export type IdleSessions<S extends Session> = {
  /** Takes the session of a key out. */
  take(key: string): S | undefined;
  keep(key: string, session: S, ms: number): void;
  close(): void;
};

export const idleSessions = <S extends Session>(): IdleSessions<S> => {
  const idle = new Map<string, Kept<S>>();
  let isClosed = false;

  const take = (key: string): S | undefined => {
    const one = idle.get(key);
    if (!one) return undefined;
    clearTimeout(one.timer);
    idle.delete(key);
    return one.session;
  };
  const end = (key: string): void => take(key)?.close();

  return {
    take,
    keep: (key, session, ms) => {
      end(key);
      if (isClosed || ms <= 0) {
        session.close();
        return;
      }
      const [oldest] = idle.keys();
      if (idle.size >= most && oldest !== undefined) end(oldest);
      idle.set(key, { session, timer: setTimeout(() => end(key), ms).unref() });
    },
    close: () => {
      isClosed = true;
      for (const key of [...idle.keys()]) end(key);
    },
  };
};
