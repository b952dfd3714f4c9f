"""MkDocs hook that adds files outside of docs/ to the site."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
# The offline plugin names a script of unpkg.com unless a polyfill has this name.
WORKER = "iframe-worker.js"
DOCUMENTS = ("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "SECURITY.md")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the documents, the ready-made studies, and the script for search offline."""
    folders = (ROOT / "studies", *ROOT.glob("plugins/*/*/studies"))
    studies = (path for folder in folders for path in sorted(folder.glob("*.yaml")))
    sources = {name: ROOT / name for name in DOCUMENTS}
    for name, source in (*sources.items(), *((f"studies/{own.name}", own) for own in studies)):
        files.append(File.generated(config, name, abs_src_path=str(source.resolve())))
    script = str(Path(__file__).with_name(WORKER))
    files.append(File.generated(config, WORKER, abs_src_path=script))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links that leave docs/ into links within the site."""
    if page.file.src_uri in DOCUMENTS:
        inside = re.sub(r"\]\(docs/decisions\)", "](decisions/README.md)", markdown)
        return re.sub(r"\]\(docs/", "](", inside)
    up = "../" * page.file.src_uri.count("/")
    listed = re.sub(r"\]\((?:\.\./)+studies\)", f"]({up}studies.md)", markdown)
    return re.sub(r"\]\(\.\./(?=[A-Z]+\.md|studies/)", "](", listed) if not up else listed
