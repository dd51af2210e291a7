#!/usr/bin/env bash
# Make sure that the browser tests find a Chromium, and a font that can draw Chinese, Japanese and Korean.
# Installs both where apt-get may be used; elsewhere says what to install and ends with 1.
set -euo pipefail

chromium="${OSTIARY_CHROMIUM:-/usr/bin/chromium}"

has_chromium() { [[ -x "$chromium" ]]; }
has_cjk_font() { command -v fc-list >/dev/null && [[ -n "$(fc-list :lang=zh family)" ]]; }

missing=()
has_chromium || missing+=(chromium)
has_cjk_font || missing+=(fonts-noto-cjk)
[[ ${#missing[@]} -eq 0 ]] && exit 0

if [[ -z "${OSTIARY_CHROMIUM:-}" && "$(id -u)" == 0 ]] && command -v apt-get >/dev/null; then
  echo "installing ${missing[*]} (for the browser tests)"
  export DEBIAN_FRONTEND=noninteractive
  if apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
    exit 0
  fi
fi

{
  echo "the browser tests lack: ${missing[*]}"
  has_chromium || echo "  no Chromium at \`$chromium\`: install one, or set OSTIARY_CHROMIUM to its path"
  has_cjk_font || echo "  no CJK font: install Noto Sans CJK (Debian: \`apt-get install fonts-noto-cjk\`)"
} >&2
exit 1
