export { limits } from './budget.ts';
export { TemplateError } from './errors.ts';
export type { Texts } from './library.ts';
export { checkTemplate, type Job, newJob, renderTemplate, type Template } from './render.ts';
