/** The sheets of a document, in their order. */

import base from './base.css?inline';
import chart from './chart.css?inline';
import controls from './controls.css?inline';
import data from './data.css?inline';
import status from './status.css?inline';
import words from './words.css?inline';

export const SHEETS: readonly string[] = [base, words, status, controls, data, chart];
