/**
 * An error that Python or Jinja2 would raise while a template renders. `type` is the name of the error's class there.
 */
export class PythonError extends Error {
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.name = 'PythonError';
    this.type = type;
  }
}

/** Why a template does not parse or render, and on which line (from 1). */
export class TemplateError extends Error {
  readonly line: number;
  /** Name of the template that has the line, if it is not the one to render. */
  readonly template: string | undefined;

  constructor(message: string, line: number, template?: string) {
    super(message);
    this.name = 'TemplateError';
    this.line = line;
    this.template = template;
  }
}

export const typeError = (message: string): PythonError => new PythonError('TypeError', message);
export const valueError = (message: string): PythonError => new PythonError('ValueError', message);
export const undefinedError = (message: string): PythonError => new PythonError('UndefinedError', message);

/** A limit of this engine was reached. */
export const limitError = (message: string): PythonError => new PythonError('Limit', message);

/** True if an error has one of these types of Python. */
export const isRaised = (error: unknown, ...types: string[]): boolean =>
  error instanceof PythonError && types.includes(error.type);

const selfExplaining = ['TemplateSyntaxError', 'UndefinedError', 'Limit'];

/** The reason of an error for the caller of the service. */
export const reasonOf = ({ type, message }: PythonError): string =>
  selfExplaining.includes(type) ? message : `${type}: ${message}`;
