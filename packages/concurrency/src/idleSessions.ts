/** A session that can be used again. */
type Session = { close(): void };

type Kept<S> = { readonly key: string; readonly session: S; readonly timer: NodeJS.Timeout };

const most = 256;

/** Sessions that nobody uses at the moment, each for some time; the oldest ends when there are too many. */
export type IdleSessions<S extends Session> = {
  /** Takes the newest session of a key out. */
  take(key: string): S | undefined;
  keep(key: string, session: S, ms: number): void;
  /** Ends those whose key passes. */
  end(isMeant: (key: string) => boolean): void;
  close(): void;
};

/** `ofKey`: how many sessions of one key are kept at most. */
export const idleSessions = <S extends Session>(ofKey = 1): IdleSessions<S> => {
  /** The oldest first. */
  const idle = new Set<Kept<S>>();
  let isClosed = false;

  const withKey = (key: string): readonly Kept<S>[] => [...idle].filter((one) => one.key === key);
  const remove = (one: Kept<S>): S => {
    clearTimeout(one.timer);
    idle.delete(one);
    return one.session;
  };
  const endOldest = (all: Iterable<Kept<S>>): void => {
    const [oldest] = all;
    if (oldest) remove(oldest).close();
  };

  const end = (isMeant: (key: string) => boolean): void => {
    for (const one of [...idle]) if (isMeant(one.key)) remove(one).close();
  };

  return {
    take: (key) => {
      const newest = withKey(key).at(-1);
      return newest && remove(newest);
    },
    keep: (key, session, ms) => {
      const same = withKey(key);
      if (same.length >= ofKey) endOldest(same);
      if (isClosed || ms <= 0) {
        session.close();
        return;
      }
      if (idle.size >= most) endOldest(idle);
      const one: Kept<S> = { key, session, timer: setTimeout(() => remove(one).close(), ms).unref() };
      idle.add(one);
    },
    end,
    close: () => {
      isClosed = true;
      end(() => true);
    },
  };
};
