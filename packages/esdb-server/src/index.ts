export type { Authorize, Caller, May, Method, Rights } from './access.ts';
export type { Expected } from './faults.ts';
export { foreignState } from './foreignStream.ts';
export { type ForeignWrites, foreignWrites } from './foreignWrites.ts';
export type { LogToServe } from './port.ts';
export { type ServedLog, type ServeLog, serveLog } from './server.ts';
