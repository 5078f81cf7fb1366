/** Errors of the operating system about a file, folder or address, in words. */
const reasons: { readonly [code: string]: string } = {
  EADDRINUSE: 'is in use',
  EADDRNOTAVAIL: 'is no address of this machine',
  ENOTFOUND: 'is not known by name',
  EAI_AGAIN: 'is not known by name now',
  EACCES: 'is not permitted',
  EPERM: 'is not permitted',
  EROFS: 'cannot be written: the disk is read-only',
  ENOSPC: 'cannot be written: the disk is full',
  EEXIST: 'is a file, not a folder',
  ENOTDIR: 'lies in something that is no folder',
  EISDIR: 'is a folder, not a file',
  ENOENT: 'does not exist',
};

const sentence = (settings: string, error: unknown): string => {
  const { code = '', message } = error as { readonly code?: string; readonly message: string };
  const reason = reasons[code];
  return reason === undefined ? `${settings}: ${message}` : `${settings} ${reason}`;
};

/** A fault at the start. Its message is one sentence with the setting to change, its value and the reason. */
class StartFault extends Error {
  constructor(settings: string, cause: unknown) {
    super(sentence(settings, cause), { cause });
    this.name = 'StartFault';
  }
}

/** Runs the work; turns its error into a `StartFault` that names the settings. */
export const blaming = async <T>(settings: string, work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw new StartFault(settings, error);
  }
};
